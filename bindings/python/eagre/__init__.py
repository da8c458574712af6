# SPDX-License-Identifier: MIT
"""eagre: what comes next, and in what order?

An embeddable in-memory ranking engine. `open()` gives a DB; the language of its statements is in docs/language.md.

    with eagre.open() as db:
        db.execute("CREATE ITEM film (title TEXT, genre KEYWORD); CREATE SIGNAL view ON film HALF LIFE 7d WINDOWS 24h")
        db.put("film", "alien", {"title": "Alien", "genre": "Horror"})
        db.signal("view", "alien")
        for row in db.query("RETRIEVE film USING count(view, 24h) RETURN title LIMIT ?1", 10):
            print(row.key, row.score, row["title"])
"""

from ._ffi import ffi as _ffi
from ._ffi import lib as _lib

if _lib.eagre_abi_version() != _lib.EAGRE_ABI_VERSION:
    raise ImportError(
        f"eagre: the package was built for version {_lib.EAGRE_ABI_VERSION} of the interface, "
        f"the library has {_lib.eagre_abi_version()}"
    )

# cffi makes types when they are first used; once, here, is before there are threads.
for _type in (
    "eagre_error *",
    "eagre_value *",
    "eagre_column *",
    "eagre_db **",
    "eagre_stmt **",
    "eagre_options *",
    "eagre_run_options *",
    "eagre_result *",
    "eagre_result_column *",
    "char[]",
    "uint64_t[]",
    "uint64_t *",
    "uint32_t *",
    "size_t *",
    "uintptr_t",
):
    _ffi.typeof(_type)

from ._db import DB, open
from ._errors import Error, NotFound
from ._explain import Explain
from ._result import Arrays, Result, Row
from ._values import Handle

__version__: str = _ffi.string(_lib.eagre_version()).decode()

__all__ = ["DB", "Arrays", "Error", "Explain", "Handle", "NotFound", "Result", "Row", "open", "__version__"]
