# SPDX-License-Identifier: MIT
"""What a schema is made of; each part can say itself in eagre's language."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from .values import INTEGER, KEYWORD, REAL, TEXT, TIME, FieldType

if TYPE_CHECKING:
    from .expr import Expr
    from .statement import OrderKey

ROLE_TYPES: dict[str, tuple[FieldType, ...]] = {
    "title": (TEXT, KEYWORD),
    "author": (KEYWORD,),
    "created": (TIME,),
    "duration": (INTEGER, REAL),
}
UNITS = (("w", 604_800), ("d", 86_400), ("h", 3_600), ("m", 60), ("s", 1))
ALL = "all"
Window = int | str  # seconds, or ALL


def duration(text: str) -> int:
    """'24h' -> 86400."""
    return int(text[:-1]) * dict(UNITS)[text[-1]]


def duration_text(seconds: int) -> str:
    """In the largest unit below a week that divides it: 86400 -> '1d', 5400 -> '90m'."""
    for unit, size in UNITS[1:]:
        if seconds % size == 0:
            return f"{seconds // size}{unit}"
    raise AssertionError(seconds)


def window(text: Window) -> Window:
    """A window as tests write it: '24h', 'all' or seconds."""
    return text if text == ALL or isinstance(text, int) else duration(text)


def window_text(value: Window) -> str:
    return ALL if value == ALL else duration_text(int(value))


def name_text(name: str) -> str:
    """A name as it stands in a statement; names that are no plain words are quoted."""
    plain = name.isascii() and name.replace("_", "a").isalnum() and not name[0].isdigit()
    return name if plain else '"' + name.replace('"', '""') + '"'


@dataclass(frozen=True)
class FieldSpec:
    name: str
    type: FieldType
    role: str | None = None
    expires: bool = False

    def text(self) -> str:
        role = f" AS {self.role}" if self.role else ""
        return f"{name_text(self.name)} {self.type.text()}{role}{' EXPIRES' if self.expires else ''}"


@dataclass(frozen=True)
class KindSpec:
    name: str
    fields: tuple[FieldSpec, ...]
    integer_keys: bool = False

    def text(self) -> str:
        fields = ", ".join(field.text() for field in self.fields)
        return f"CREATE ITEM {name_text(self.name)} ({fields}){' KEY INTEGER' if self.integer_keys else ''}"

    def drop_text(self) -> str:
        return f"DROP ITEM {name_text(self.name)}"

    def field(self, name: str) -> FieldSpec | None:
        """The field of that name, else the field that plays the role of that name."""
        return next((field for field in self.fields if field.name == name), None) or self.role(name)

    def role(self, role: str) -> FieldSpec | None:
        """AS role wins over a field that is only named so."""
        said = next((field for field in self.fields if field.role == role), None)
        named = (field for field in self.fields if field.name == role and field.type in ROLE_TYPES.get(role, ()))
        return said or next(named, None)

    def expiry(self) -> FieldSpec | None:
        return next((field for field in self.fields if field.expires), None)


@dataclass(frozen=True)
class SignalSpec:
    """Half-life in seconds, or a power, or neither: no decay. Windows in seconds."""

    name: str
    kind: str
    half_life: int | None = None
    power: float | None = None
    windows: tuple[int, ...] = ()
    forgets: bool = False

    def text(self) -> str:
        if self.half_life is not None:
            decay = f"HALF LIFE {duration_text(self.half_life)}"
        elif self.power is not None:
            decay = f"POWER DECAY {self.power!r}"
        else:
            decay = "NO DECAY"
        windows = " WINDOWS " + ", ".join(map(duration_text, self.windows)) if self.windows else ""
        forgets = " FORGETS" if self.forgets else ""
        return f"CREATE SIGNAL {name_text(self.name)} ON {name_text(self.kind)} {decay}{windows}{forgets}"

    def drop_text(self) -> str:
        return f"DROP SIGNAL {name_text(self.name)} ON {name_text(self.kind)}"


@dataclass(frozen=True)
class ProfileSpec:
    """An expression or an order; parameters with their defaults (None: must be given)."""

    name: str
    kind: str
    body: Expr | tuple[OrderKey, ...]
    parameters: tuple[tuple[str, float | None], ...] = ()

    def text(self, verb: str = "CREATE") -> str:
        parameters = ", ".join(name if default is None else f"{name} = {default!r}" for name, default in self.parameters)
        listed = f"({parameters})" if self.parameters else ""
        if isinstance(self.body, tuple):
            body = "ORDER BY " + ", ".join(key.text() for key in self.body)
        else:
            body = self.body.text()
        return f"{verb} PROFILE {name_text(self.name)}{listed} ON {name_text(self.kind)} AS {body}"

    def drop_text(self) -> str:
        return f"DROP PROFILE {name_text(self.name)} ON {name_text(self.kind)}"
