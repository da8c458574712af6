# SPDX-License-Identifier: MIT
"""The report of EXPLAIN: its JSON, and a form to read."""

from __future__ import annotations

import json
from typing import Any

__all__ = ["Explain"]


class Explain:
    """What EXPLAIN reports: the plan, the work done, and for each row every term of the expression with its value.

    `str(report)` is for reading; `report.data` is the same as Python objects, in the form the engine gives.
    """

    __slots__ = ("data",)

    def __init__(self, text: bytes) -> None:
        self.data: Any = json.loads(text)

    def __repr__(self) -> str:
        return f"<eagre.Explain: {', '.join(self.data) if isinstance(self.data, dict) else type(self.data).__name__}>"

    def __str__(self) -> str:
        return "\n".join(_tree(self.data, 0))


def _tree(data: Any, depth: int) -> list[str]:
    """Any JSON as indented lines: `name: value`, objects and lists of objects below their names."""
    pad = "  " * depth
    lines = []
    if isinstance(data, dict):
        for name, value in data.items():
            if isinstance(value, (dict, list)) and value and not _short(value):
                lines.append(f"{pad}{name}")
                lines += _tree(value, depth + 1)
            else:
                lines.append(f"{pad}{name}: {_value(value)}")
    elif isinstance(data, list):
        for value in data:
            if isinstance(value, (dict, list)) and value:
                inner = _tree(value, depth + 1)
                lines.append(f"{pad}- {inner[0].strip()}")
                lines += inner[1:]
            else:
                lines.append(f"{pad}- {_value(value)}")
    else:
        lines.append(f"{pad}{_value(data)}")
    return lines


def _short(value: Any) -> bool:
    return isinstance(value, list) and not any(isinstance(x, (dict, list)) for x in value) and len(value) <= 8


def _value(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False)
