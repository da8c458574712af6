# SPDX-License-Identifier: MIT
"""Every function of the public header has a comment with five parts, and is exported.

    python3 scripts/check_header.py abi/include/eagre/eagre.h abi/symbols.txt

The parts: what it does, then "Ownership:", "Threads:", "Fails with:" and "Since ..."; what is as with
another function may be said by "Otherwise as eagre_...". Also: the header
has at most MAX_LINES lines, and declares what symbols.txt lists, no more and no less.
"""

from __future__ import annotations

import pathlib
import re
import sys

MAX_LINES = 600
PARTS = ["Ownership", "Threads", "Fails with", "Since"]

# A comment, then blank space, then EAGRE_API and a declaration up to its semicolon.
DECLARED = re.compile(r"(?P<comment>/\*(?:[^*]|\*(?!/))*\*/)?\s*^EAGRE_API\b(?P<declaration>[^;]*);", re.M)
NAME = re.compile(r"\b(eagre_\w+)\s*\(")


def main() -> int:
    header = pathlib.Path(sys.argv[1])
    text = header.read_text(encoding="utf-8")
    faults = []
    names = set()
    for match in DECLARED.finditer(text):
        name = NAME.search(match["declaration"])
        if name is None:
            continue
        names.add(name[1])
        line = text.count("\n", 0, match.start("declaration")) + 1
        comment = match["comment"]
        if comment is None:
            faults.append(f"{header}:{line}: {name[1]} has no comment")
            continue
        said = re.sub(r"[\s*]+", " ", comment)
        missing = [part for part in PARTS if not re.search(rf"\b{part}\b", said)]
        if missing and not re.search(r"\b[Oo]therwise as eagre_\w+", said):
            faults.append(f"{header}:{line}: the comment of {name[1]} does not say: {', '.join(missing)}")
    lines = text.count("\n")
    if lines > MAX_LINES:
        faults.append(f"{header}:{lines}: longer than {MAX_LINES} lines")
    listed = set(pathlib.Path(sys.argv[2]).read_text().split())
    faults += [f"{header}: {name} is declared and not exported" for name in sorted(names - listed)]
    faults += [f"{header}: {name} is exported and not declared" for name in sorted(listed - names)]
    for fault in faults:
        print(fault)
    print(f"check_header: {len(names)} functions, {lines} lines, {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
