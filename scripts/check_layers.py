# SPDX-License-Identifier: MIT
"""The rules of the tree that no compiler checks. Prints each violation as file:line: what, and counts.

Includes   An arrow goes down only: LAYERS says which folder of core/ may include which. core/ never sees
           the public header. A library is included by its one file: LIBRARIES.
ck_ht      is insert-only here: nothing is ever removed from it or overwritten through it.
ORDER      Every atomic access in core/ (outside base/publish.h, which names them) has a comment with the
           word ORDER on its line or ending within the LOOK_BACK lines above: which partner it pairs with, or why
           it may be relaxed. A run of atomics shares one comment when each follows within that distance.
Sources    begin with an SPDX line and have at most MAX_LINES lines.
"""

from __future__ import annotations

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent

# Folder of core/ -> folders it may include. "." are the files directly in core/: validate, which walks
# over all that is stored, and which the engine calls.
LAYERS = {
    "base": {"base"},
    "rank": {"base", "rank"},
    "store": {"base", "store"},
    "query": {"base", "store", "rank", "query"},
    ".": {"base", "store", "rank", "query", "."},
    "engine": {"base", "store", "rank", "query", ".", "engine"},
}

# Headers that one file alone may include.
LIBRARIES = [
    (re.compile(r"^urcu"), "core/base/reclaim.c"),
    (re.compile(r"^mimalloc"), "core/base/alloc.c"),
    (re.compile(r"^roaring/"), "core/store/postings.c"),
    (re.compile(r"^ck_ht"), "core/store/keymap.c"),
]
CK_HT = re.compile(r"\bck_ht_\w+\s*\(")
CK_HT_FORBIDDEN = re.compile(r"\bck_ht_(remove|set)_spmc\b")

# The compiler's builtins, C11's generics, and the names that base/publish.h gives them.
PUBLISH = "take publish load_relaxed store_relaxed add_relaxed sub_relaxed add_seq swap_acq_rel cas cas_relaxed fence_acquire fence_release"
LOOK_BACK = 3

MAX_LINES = 800
SPDX = "SPDX-License-Identifier: MIT"
SOURCE = re.compile(r"(\.(c|h|py|pyi|sh|cmake|map|go|rs)|CMakeLists\.txt|Makefile|/run)$")
GENERATED = re.compile(r"(^|/)_ffi\.c$")

INCLUDE = re.compile(r'^\s*#\s*include\s+[<"]([^>"]+)[>"]')
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.S)


def atomic_pattern() -> re.Pattern[str]:
    names = set(PUBLISH.split())
    header = ROOT / "core/base/publish.h"
    if header.exists():
        names |= set(re.findall(r"^#define (\w+)\(.*__atomic", header.read_text(), re.M))
    own = "|".join(sorted(names))
    return re.compile(rf"\b(__atomic_\w+|__sync_\w+|atomic_(?:load|store|exchange|fetch|compare|thread|init)\w*|(?:{own}))\s*\(")


ATOMIC = atomic_pattern()


def sources() -> list[str]:
    """Paths of all files of the tree, as git sees them; without git, what lies outside the built folders."""
    try:
        listed = subprocess.run(
            ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
            cwd=ROOT, check=True, capture_output=True, text=True,
        ).stdout.splitlines()
    except (OSError, subprocess.CalledProcessError):
        skipped = {"build", "dist", ".venv", ".git"}
        listed = [p.relative_to(ROOT).as_posix() for p in ROOT.rglob("*") if p.is_file()]
        listed = [p for p in listed if not skipped & set(p.split("/"))]
    return sorted(p for p in set(listed) if (ROOT / p).is_file())


def blank_comments(text: str) -> str:
    """The same text with comments and strings made blank, lines kept."""

    def blank(match: re.Match[str]) -> str:
        return re.sub(r"[^\n]", " ", match.group())

    return re.sub(COMMENT.pattern + r'|"(?:\\.|[^"\\\n])*"', blank, text, flags=re.S)


def order_lines(text: str) -> set[int]:
    """Indices of all lines of the comments that contain the word ORDER."""
    found = set()
    for match in COMMENT.finditer(text):
        if "ORDER" in match.group():
            first = text.count("\n", 0, match.start())
            found |= set(range(first, first + match.group().count("\n") + 1))
    return found


class Check:
    def __init__(self) -> None:
        self.faults: list[str] = []
        self.files = 0
        self.atomics = 0

    def fault(self, path: str, line: int, what: str) -> None:
        self.faults.append(f"{path}:{line}: {what}")

    def source(self, path: str, lines: list[str]) -> None:
        if not any(SPDX in line for line in lines[:2]):
            self.fault(path, 1, f"no SPDX line ('{SPDX}') on the first two lines")
        if len(lines) > MAX_LINES:
            self.fault(path, len(lines), f"longer than {MAX_LINES} lines: split it by concept")

    def includes(self, path: str, lines: list[str]) -> None:
        parts = path.split("/")
        folder = None if parts[0] != "core" else parts[1] if len(parts) > 2 else "."
        if folder is not None and folder not in LAYERS:
            self.fault(path, 1, f"core/{folder} has no place among the layers of {pathlib.Path(__file__).name}")
            return
        for number, line in enumerate(lines, 1):
            match = INCLUDE.match(line)
            if not match:
                continue
            name = match.group(1)
            for pattern, owner in LIBRARIES:
                if pattern.match(name) and path.startswith(("core/", "abi/")) and path != owner:
                    self.fault(path, number, f"only {owner} may include <{name}>")
            if parts[0] != "core":
                if parts[0] == "bench" and parts[1] != "core" and not name.startswith("eagre/") and (ROOT / "core" / name).exists():
                    self.fault(path, number, "a benchmark is a host: it sees the public header only (in bench/core/: core/ only)")
                continue
            if name.split("/")[-1] == "eagre.h":
                self.fault(path, number, "core/ never sees the public header")
            target = name.split("/")[0] if "/" in name else "."
            if (ROOT / "core" / name).exists() and target not in LAYERS[folder]:
                self.fault(path, number, f"core/{folder} may not include {name}: arrows go down only")
            if name.startswith("."):
                self.fault(path, number, "include by the path below core/, not by a relative one")

    def core(self, path: str, text: str) -> None:
        lines = text.split("\n")
        code = blank_comments(text).split("\n")
        ordered = order_lines(text)
        anchor = -10  # the last line of an ORDER comment, or of an atomic that one covers
        for index in range(len(lines)):
            if index in ordered:
                anchor = index
            for match in CK_HT.finditer(code[index]):
                if path != "core/store/keymap.c":
                    self.fault(path, index + 1, f"only core/store/keymap.c calls {match.group().strip('( ')}")
            if CK_HT_FORBIDDEN.search(code[index]):
                self.fault(path, index + 1, "ck_ht is insert-only here: no removing, no overwriting")
            match = ATOMIC.search(code[index])
            if match and not path.endswith("base/publish.h"):
                self.atomics += 1
                if index - anchor > LOOK_BACK:
                    self.fault(path, index + 1, f"{match.group(1)} without an ORDER comment near by")
                else:
                    anchor = index

    def run(self) -> int:
        for path in sources():
            if not SOURCE.search(path) or GENERATED.search(path):
                continue
            text = (ROOT / path).read_text(encoding="utf-8")
            lines = text.splitlines()
            if not lines and path.endswith("__init__.py"):
                continue
            self.files += 1
            self.source(path, lines)
            if path.endswith((".c", ".h")):
                self.includes(path, lines)
                if path.startswith("core/"):
                    self.core(path, text)
        for fault in self.faults:
            print(fault)
        print(f"check_layers: {self.files} sources, {self.atomics} atomic accesses, {len(self.faults)} faults")
        return 1 if self.faults else 0


if __name__ == "__main__":
    sys.exit(Check().run())
