"""Noise on gains: the feature of a split is the one whose gain plus a random number is largest.

The numbers depend on the seed, on the place in the tree and on the feature. The same as in kernels/trees/noise.hpp.
"""

from __future__ import annotations

import math

from .scores import sequential_sum

BITS = 2**64 - 1
GOLDEN = 0x9E3779B97F4A7C15  # the step of splitmix64's counter


def mixed_bits(z: int) -> int:
    """splitmix64's finaliser: the bits of a counter, thoroughly mixed."""
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & BITS
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & BITS
    return z ^ (z >> 31)


def noise_key(seed: int, place: int) -> int:
    """The key of a place: a level of a symmetric tree, or the path to a node (see `child_place`)."""
    return mixed_bits(seed ^ mixed_bits((place + 1) & BITS))


def child_place(parent: int, right: bool) -> int:
    """The place of a node for its noise: 1 for the root, twice the parent's for a left child, one more for a right."""
    return (2 * parent + int(right)) & BITS


def normal(key: int, feature: int) -> float:
    """A number that is normally distributed, nearly: the sum of twelve uniform numbers, less 6.

    It is a sum of integers, so that the compiled engine gets the same bits.
    """
    words = [mixed_bits((key + GOLDEN * (6 * feature + i + 1)) & BITS) for i in range(6)]
    return sum((word >> 32) + (word & 0xFFFFFFFF) for word in words) * 2.0**-32 - 6.0


def spread(numbers: list[float]) -> float:
    """The standard deviation; numbers are first divided by the largest, so that squares cannot overflow."""
    largest = max((abs(x) for x in numbers), default=0.0)
    if largest == 0.0:
        return 0.0
    mean = sequential_sum(x / largest for x in numbers) / len(numbers)
    squares = sequential_sum((x / largest - mean) * (x / largest - mean) for x in numbers)
    return largest * math.sqrt(squares / len(numbers))
