"""Sizes of files in words."""

from __future__ import annotations


def in_bytes(size: int) -> str:
    """A number of bytes in words.

    Examples
    --------
    >>> in_bytes(312), in_bytes(4_500), in_bytes(28_460_000)
    ('312 bytes', '4.5 kB', '28.5 MB')
    """
    for unit, bound in (("MB", 10**6), ("kB", 10**3)):
        if size >= bound:
            return f"{size / bound:.1f} {unit}"
    return f"{size} bytes"
