# SPDX-License-Identifier: MIT
"""Write bindings/python/eagre/_ffi.c from _ffi.cdef.txt and _ffi.csrc.c.

    python bindings/python/generate_ffi.py            write it
    python bindings/python/generate_ffi.py --check    compare only; exit status 1 if it differs

The file is checked in, so that a build needs no cffi. Its bytes depend on cffi's version: VERSION is the
one to use, and another one is refused.
"""

from __future__ import annotations

import pathlib
import sys
import tempfile

import cffi

VERSION = "2.1.1"
MODULE = "eagre._ffi"
FOLDER = pathlib.Path(__file__).resolve().parent / "eagre"


def generate() -> str:
    """The text of _ffi.c."""
    if cffi.__version__ != VERSION:
        raise SystemExit(f"generate_ffi: cffi {VERSION} is needed, this is {cffi.__version__}")
    ffi = cffi.FFI()
    ffi.cdef((FOLDER / "_ffi.cdef.txt").read_text())
    ffi.set_source(MODULE, (FOLDER / "_ffi.csrc.c").read_text())
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "_ffi.c")
        ffi.emit_c_code(str(path))
        return path.read_text()


def main() -> int:
    target = FOLDER / "_ffi.c"
    text = generate()
    if sys.argv[1:] == ["--check"]:
        same = target.exists() and target.read_text() == text
        print(f"{target.name}: {'up to date' if same else 'differs from what cffi makes of _ffi.cdef.txt'}")
        return 0 if same else 1
    target.write_text(text)
    print(f"wrote {target}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
