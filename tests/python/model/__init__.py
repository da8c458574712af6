# SPDX-License-Identifier: MIT
"""The reference model: what eagre has to answer, computed slowly and obviously, by docs/language.md.

    values.py      types, checks, dates, three-valued logic     statement.py   RETRIEVE as data
    schema.py      kinds, signals, profiles as data             order.py       the total order
    functions.py   the language's functions on floats           diversity.py   the greedy rule
    signals.py     a list of events for each (item, signal)     cursor.py      pages
    env.py         what an expression asks of a row             profiles.py    the built-in ones
    expr.py        expressions: operators and conditions        retrieve.py    one statement, start to end
    calls.py       expressions: function calls                  engine.py      class Model
    store.py       items by key
"""

from .engine import Model
from .retrieve import Result, Row
from .schema import FieldSpec, KindSpec, ProfileSpec, SignalSpec
from .statement import OrderBy, OrderKey, Per, Retrieve, Return, Share, UsingExpr, UsingProfile
from .values import INTEGER, KEYWORD, KEYWORDS, REAL, TEXT, TIME, FieldType, ModelError, vector

__all__ = [
    "INTEGER", "KEYWORD", "KEYWORDS", "REAL", "TEXT", "TIME", "FieldSpec", "FieldType", "KindSpec", "Model", "ModelError",
    "OrderBy", "OrderKey", "Per", "ProfileSpec", "Result", "Retrieve", "Return", "Row", "Share", "SignalSpec", "UsingExpr",
    "UsingProfile", "vector",
]
