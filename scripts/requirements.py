# SPDX-License-Identifier: MIT
"""Print what a developer's virtual environment needs, one requirement a line, read from pyproject.toml.

Besides what the project declares: PyPI's CMake (Debian 12's is too old for the Python module) and the
one version of cffi whose output is checked in as bindings/python/eagre/_ffi.c.
"""

from __future__ import annotations

import pathlib

try:
    import tomllib
except ModuleNotFoundError:  # Python 3.10: pip carries a copy
    from pip._vendor import tomli as tomllib  # type: ignore[no-redef]

ROOT = pathlib.Path(__file__).resolve().parent.parent
EXTRA = ["cmake>=3.26", "cffi==2.1.1"]


def main() -> None:
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    data = tomllib.loads(text)
    wanted = list(data["build-system"]["requires"])
    wanted += data["project"]["dependencies"]
    for extra in ("demo", "test"):
        wanted += [name for name in data["project"]["optional-dependencies"][extra] if name not in wanted]
    print("\n".join(wanted + EXTRA))


if __name__ == "__main__":
    main()
