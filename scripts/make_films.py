# SPDX-License-Identifier: MIT
"""Make examples/films.jsonl from the film table of the npm package vega-datasets.

    python3 scripts/make_films.py [movies.json]

Without an argument the package is fetched by `npm pack` into a temporary folder. The table is known for
its faults; this is what is done about each, and all that is done:

* A record without a title is dropped (one of 3,201). A title that is a number becomes text ("1776").
* The table was made in 2010 and announces films up to 2011 (LAST_YEAR). Two-digit years came out a
  century late in some records ("Gone with the Wind" in 2039): a year after LAST_YEAR is 100 too high.
* Some text was Windows-1252 and was read as Mac Roman ("DÈj‡ Vu"). Text that can be turned back is turned
  back ("Déjà Vu"); where it can not, it stays as it is.
* Null stays null.
* The key is made of title and year, and gets a number when it is taken.
"""

from __future__ import annotations

import datetime
import hashlib
import json
import pathlib
import re
import subprocess
import sys
import tarfile
import tempfile
import unicodedata

PACKAGE = "vega-datasets@3.2.1"
SHA256 = "e63c499759e3b07b49563e036f55290f87feb56def8703ec049ca305ab1523d3"
LAST_YEAR = 2011
OUTPUT = pathlib.Path(__file__).resolve().parent.parent / "examples" / "films.jsonl"


def fetch() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["npm", "pack", "--silent", PACKAGE], cwd=folder, check=True, stdout=subprocess.DEVNULL)
        (archive,) = pathlib.Path(folder).glob("*.tgz")
        with tarfile.open(archive) as tar:
            member = tar.extractfile("package/data/movies.json")
            assert member is not None
            return member.read()


def text(value: object) -> str | None:
    if value is None:
        return None
    raw = str(value).strip()
    if not raw.isascii():
        try:
            raw = raw.encode("mac_roman").decode("cp1252")
        except UnicodeError:
            pass
    return raw


def released(value: str | None) -> datetime.date | None:
    if value is None:
        return None
    date = datetime.datetime.strptime(value, "%b %d %Y").date()
    return date.replace(year=date.year - 100) if date.year > LAST_YEAR else date


def slug(title: str) -> str:
    plain = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode()
    return re.sub(r"[^a-z0-9]+", "-", plain.lower().replace("'", "")).strip("-")


def main() -> None:
    data = pathlib.Path(sys.argv[1]).read_bytes() if len(sys.argv) > 1 else fetch()
    if hashlib.sha256(data).hexdigest() != SHA256:
        sys.exit("this is not the movies.json that the rules above were written for")
    taken: set[str] = set()
    lines = []
    records = json.loads(data)
    late = 0
    for record in records:
        title = text(record["Title"])
        if title is None:
            continue
        date = released(record["Release Date"])
        late += date is not None and not record["Release Date"].endswith(str(date.year))
        stem = f"{slug(title)}-{date.year if date else 'undated'}"
        key, n = stem, 1
        while key in taken:
            n += 1
            key = f"{stem}-{n}"
        taken.add(key)
        rating = record["IMDB Rating"]
        film = {
            "key": key,
            "title": title,
            "director": text(record["Director"]),
            "genre": text(record["Major Genre"]),
            "released": date.isoformat() if date else None,
            "minutes": record["Running Time min"],
            "rating": None if rating is None else float(rating),
            "votes": record["IMDB Votes"],
            "mpaa": text(record["MPAA Rating"]),
            "distributor": text(record["Distributor"]),
        }
        lines.append(json.dumps(film, ensure_ascii=False))
    OUTPUT.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"{len(records)} records, {late} dates set back a century, {len(lines)} films written")


if __name__ == "__main__":
    main()
