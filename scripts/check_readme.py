# SPDX-License-Identifier: MIT
"""The examples of README.md are true: its C is that of examples/hello.c (which the tests compile and run),
its Python runs here and prints what it should."""

from __future__ import annotations

import contextlib
import io
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def block(text: str, language: str) -> str:
    match = re.search(rf"^```{language}\n(.*?)^```$", text, re.M | re.S)
    if match is None:
        sys.exit(f"README.md has no example in {language}")
    return match[1]


def main() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    hello = (ROOT / "examples/hello.c").read_text(encoding="utf-8").split("\n", 1)[1]
    if block(text, "c") != hello:
        sys.exit("the C example of README.md is not that of examples/hello.c")
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(block(text, "python"), "README.md", "exec"), {})
    if not re.fullmatch(r"alien-1979 [0-9.e-]+ Alien\n", printed.getvalue()):
        sys.exit(f"the Python example of README.md printed {printed.getvalue()!r}")
    for target in re.findall(r"\]\(([^):#]+)\)", text):
        if not (ROOT / target).exists():
            sys.exit(f"README.md links to {target}, which is not there")
    print("check_readme: examples run, links lead somewhere")


if __name__ == "__main__":
    main()
