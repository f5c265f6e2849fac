"""How much memory a fit needs on the device."""

from __future__ import annotations

from ..interface import FitSize
from .device import DeviceMemoryError
from .growing import Sizes, most_leaves
from .trees import limits_of, splits_bytes, too_many_levels


def fit_bytes(size: FitSize) -> dict[str, int]:
    """The bytes of a fit of the flagship on the device, by what they are for.

    With n rows, p features, K classes, s directions of the sketch, at most L leaves, B bins (rounded up to a multiple
    of 32) and integers of w = 4 or 8 bytes: codes 8 n ⌈p/8⌉; predictor 4 n K; rows n (8 (s + 1) + w (s + 1) + 24), and
    20 n more if they have weights; histograms w p (s + 2) B (2 L + 2), or of trees that do not grow best first
    w p (s + 2) B (L + 2), and 16384 p for splits; leaves 40 L K.
    """
    n, p, m = size.n, size.p, size.s + 1
    out = {"codes": 8 * n * -(-p // 8), "predictor": 4 * n * size.K}
    width = size.growth.bits // 8
    out["rows"] = n * (8 * m + width * m + 24 + (20 if size.weighted else 0))
    unlimited = size.growth.order != "symmetric" and not (size.growth.max_leaf_nodes or size.growth.max_depth)
    if p == 0 or too_many_levels(size.growth) or unlimited:  # these may be grown on the processor
        return out
    limits = limits_of("newton", size.growth, n, p)
    sizes = Sizes.for_bins(-(-(size.max_bins + 1) // 32) * 32, p, False, m, limits, n)
    out["histograms"] = sizes.slots * sizes.slot * width + splits_bytes(p)
    out["leaves"] = 40 * most_leaves(limits, n) * max(1, size.K)
    return out


def check_room(size: FitSize, room: int) -> int:
    """The bytes of a fit; raises `DeviceMemoryError` if there is less room on the device."""
    parts = fit_bytes(size)
    need = sum(parts.values())
    if need <= room:
        return need
    listed = ", ".join(f"{name} {text(amount)}" for name, amount in parts.items())
    raise DeviceMemoryError(
        f"device='cuda' needs {text(need)} of memory on the GPU for this fit ({listed}), and {text(room)} are free; "
        "fit on fewer rows, with smaller max_leaf_nodes or max_bins, or with device='cpu'."
    )


def text(amount: int) -> str:
    """A number of bytes in words."""
    return f"{amount / 2**30:.1f} GiB" if amount >= 2**30 else f"{amount / 2**20:.1f} MiB"
