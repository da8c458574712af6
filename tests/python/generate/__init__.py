# SPDX-License-Identifier: MIT
"""Random schemas, operations and statements, all from one random.Random (or hypothesis' own, which can shrink them).

    schemas.py     kinds, fields, signals, profiles; keys and values that fit them
    exprs.py       numeric expressions and conditions over a schema
    statements.py  RETRIEVE with any mix of clauses
    steps.py       operations as data: each can be applied to a subject and say itself as Python
    scenarios.py   a schema and a list of steps
"""
