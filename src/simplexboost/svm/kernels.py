"""Kernels k(x, z): their parameters, their values between two sets of examples, and checks of kernels from outside."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from scipy.sparse import issparse

from .._parts import check_choice, check_number
from .._typing import Array
from .._warn import warn_user

KERNELS = ("linear", "rbf", "poly", "precomputed")  # in the order of the compiled solver's numbers
KernelFunction: TypeAlias = Callable[[Any, Any], Any]


@dataclass(frozen=True)
class Kernel:
    """A kernel with its parameters fixed.

    Attributes
    ----------
    name : a name of ``KERNELS``, or "callable"
    function : the user's function, of a callable kernel
    gamma, degree, coef0 : as in exp(−γ‖x−z‖²) and (γ⟨x,z⟩ + c)^degree
    constant : added to every value; the square of the constant appended to every example
    """

    name: str
    function: KernelFunction | None = None
    gamma: float = 1.0
    degree: int = 3
    coef0: float = 0.0
    constant: float = 0.0

    def __call__(self, X: Any, Z: Any) -> Array:
        """The values between the rows of X and Z, (n, m)."""
        if self.function is not None:
            return as_gram(self.function(X, Z), (X.shape[0], Z.shape[0])) + self.constant
        dots = X @ Z.T
        dots = np.asarray(dots.toarray() if issparse(dots) else dots, dtype=np.float64)
        if self.name == "rbf":
            distance = squares(X)[:, None] + squares(Z)[None, :] - 2.0 * dots
            dots = np.exp(-self.gamma * np.maximum(distance, 0.0))
        elif self.name == "poly":
            dots = (self.gamma * dots + self.coef0) ** self.degree
        return dots + self.constant


def squares(X: Any) -> Array:
    """‖x‖² of every row, (n,)."""
    with np.errstate(over="ignore"):  # an infinite square is what the caller looks for
        return np.asarray(X.multiply(X).sum(axis=1)).ravel() if issparse(X) else np.einsum("ij,ij->i", X, X)


def check_kernel(kernel: Any, gamma: Any, degree: Any, coef0: Any) -> None:
    """Raise unless the parameters make a kernel."""
    named = isinstance(kernel, str) and kernel in KERNELS
    if not named and (not callable(kernel) or isinstance(kernel, type)):
        raise ValueError(
            f"kernel={kernel!r} is unknown; choose one of {', '.join(map(repr, KERNELS))}, or pass a function "
            "kernel(X, Z) -> (n, m) array."
        )
    if isinstance(gamma, str):
        check_choice("gamma", gamma, ("scale", "auto"))
    else:
        check_number("gamma", gamma, float, 0.0, open_low=True)
    check_number("degree", degree, int, 1)
    check_number("coef0", coef0, float)


def kernel_for(X: Any, weight: Array, kernel: Any, gamma: Any, degree: int, coef0: float, constant: float) -> Kernel:
    """The kernel for training examples X with these weights; a gamma of "scale" or "auto" becomes a number."""
    if callable(kernel):
        return Kernel("callable", kernel, constant=constant)
    if kernel == "poly" and coef0 < 0:
        warn_indefinite(f"coef0={coef0!r} is negative: the polynomial kernel")
    number = resolve_gamma(X, weight, gamma) if kernel in ("rbf", "poly") else 1.0
    with np.errstate(over="ignore"):
        largest = np.float_power(number * squares(X).max() + abs(coef0), degree) if kernel == "poly" else 0.0
    if not np.isfinite(largest):
        raise ValueError(
            f"values of the polynomial kernel are too large (gamma={number:.3g}, degree={degree}); scale X."
        )
    return Kernel(kernel, None, number, int(degree), float(coef0), constant)


def resolve_gamma(X: Any, weight: Array, gamma: Any) -> float:
    """1 / (p · variance of X) for "scale", 1 / p for "auto", else the number itself; rows weigh as if repeated."""
    if not isinstance(gamma, str):
        return float(gamma)
    p = X.shape[1]
    if gamma == "auto":
        return 1.0 / p
    share = weight / weight.sum()
    mean = float((share @ X).sum()) / p
    square = share @ squares(X) - p * mean**2 if issparse(X) else share @ squares(X - mean)
    variance = float(square) / p
    return 1.0 / (p * variance) if variance > 0 else 1.0


# ---- kernel matrices that come from outside -------------------------------------------------------------------------


def as_gram(values: Any, shape: tuple[int, int]) -> Array:
    """What a user's kernel returned, as an array of the shape."""
    try:
        gram = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"kernel(X, Z) must return an array of numbers, not {values!r:.100}.") from error
    if gram.shape != shape:
        raise ValueError(
            f"kernel(X, Z) returned an array of shape {gram.shape}; it must be (rows of X, rows of Z), {shape}."
        )
    if not np.isfinite(gram).all():
        raise ValueError("kernel(X, Z) returned values that are not finite.")
    return gram


def check_gram(gram: Array) -> None:
    """Raise where the Gram matrix (n, n) cannot be that of a kernel; warn where it is not positive semi-definite."""
    scale = float(np.abs(gram).max(initial=0.0))
    skew = float(np.abs(gram - gram.T).max(initial=0.0))
    if skew > 1e-8 * scale:
        raise ValueError(
            f"the kernel matrix is not symmetric: entries differ from their mirror images by up to {skew:.3g}."
        )
    diagonal = np.diagonal(gram)
    if (diagonal < -1e-8 * scale).any():
        worst = int(diagonal.argmin())
        raise ValueError(
            f"the kernel matrix has a negative diagonal entry, k(x, x) = {diagonal[worst]:.3g} at row {worst}; a "
            "kernel is an inner product and has none."
        )
    lowest = lowest_ritz_value(gram)
    if lowest < -1e-7 * scale * max(1.0, len(gram) ** 0.5):
        warn_indefinite(f"the kernel matrix has an eigenvalue of at most {lowest:.3g}: the kernel")


def warn_indefinite(subject: str) -> None:
    """Warn of an indefinite kernel, and say what it means for the solution."""
    warn_user(
        f"{subject} is not positive semi-definite. The problem is then not convex: the solver ends in a stationary "
        "point, and duality_gap_ is no certificate. Use a proper kernel, or clip the eigenvalues of the matrix.",
    )


def lowest_ritz_value(gram: Array, steps: int = 24) -> float:
    """An upper bound on the smallest eigenvalue, by a few Lanczos steps; if negative, the matrix is indefinite."""
    n = len(gram)
    steps = min(steps, n)
    basis = np.zeros((steps, n))
    alpha, beta = np.zeros(steps), np.zeros(steps)
    v = np.cos(np.arange(1, n + 1) ** 2.0)  # an arbitrary start
    for s in range(steps):
        basis[s] = v / np.linalg.norm(v)
        v = gram @ basis[s]
        alpha[s] = basis[s] @ v
        for _ in range(2):  # orthogonalising twice is enough
            v = v - basis[: s + 1].T @ (basis[: s + 1] @ v)
        beta[s] = np.linalg.norm(v)
        if beta[s] <= 1e-12 * (abs(alpha[: s + 1]).max() + 1e-300):
            steps = s + 1
            break
    off = beta[: steps - 1]
    T = np.diag(alpha[:steps]) + np.diag(off, 1) + np.diag(off, -1)
    return float(np.linalg.eigvalsh(T)[0])
