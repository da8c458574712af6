# SPDX-License-Identifier: MIT
"""The language's functions on plain floats. Every result is finite; each edge is written out."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable

LARGEST = 1.7976931348623157e308
Z = 1.96


def finite(value: float) -> float:
    """Overflow gives the largest number of its sign."""
    return max(-LARGEST, min(LARGEST, value))


def guarded(compute: Callable[[], float], sign: float = 1.0) -> float:
    """Python raises where C gives an infinity."""
    try:
        return finite(compute())
    except OverflowError:
        return sign * LARGEST


def divide(a: float, b: float) -> float:
    return 0.0 if b == 0 else finite(a / b)


def power(a: float, b: float) -> float:
    if b == 0:
        return 1.0
    if a == 0:
        return 0.0
    whole = b == math.floor(b)
    if a < 0 and not whole:
        return 0.0
    negative = a < 0 and math.fmod(b, 2) != 0
    return guarded(lambda: math.pow(a, b), -1.0 if negative else 1.0)


def exp(x: float) -> float:
    return guarded(lambda: math.exp(x))


def exp2(x: float) -> float:
    return guarded(lambda: 2.0**x)


def sqrt(x: float) -> float:
    return 0.0 if x < 0 else math.sqrt(x)


def log1p(x: float) -> float:
    return math.log1p(max(x, -1 + 2.0**-53))


def sign(x: float) -> float:
    return float((x > 0) - (x < 0))


def recency(age: float, half_life: float) -> float:
    return exp2(-age / half_life)


def wilson(positive: float, negative: float) -> float:
    """Lower end of the Wilson score interval."""
    p, n = max(positive, 0.0), max(negative, 0.0)
    total = finite(p + n)
    if p == 0 or total == 0:
        return 0.0
    # (share + z^2/2t - z sqrt(share (1 - share) / t + z^2/4t^2)) / (1 + z^2/t), share = p/t, written so that nothing cancels out
    return p * (p / total) / (p + Z * Z / 2 + Z * math.sqrt(p * (n / total) + Z * Z / 4))


def mix(z: int) -> int:
    """splitmix64."""
    mask = 2**64 - 1
    z = (z + 0x9E3779B97F4A7C15) & mask
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & mask
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
    return z ^ (z >> 31)


def random01(seed: float, slot: int) -> float:
    (bits,) = struct.unpack("<Q", struct.pack("<d", seed))
    return (mix(bits ^ mix(slot)) >> 11) * 2.0**-53
