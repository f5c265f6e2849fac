"""Models (sums with their codewords, and branching programs) as arrays, and back with checks."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._typing import AnyArray
from ..boosting.model import AdditiveModel
from ..boosting.program import Program
from ..codewords.identity import FEW, identity, is_view
from .checks import ENDS, check_codewords, check_ends, check_layout, check_program, check_range, damaged
from .terms import terms_from_arrays, terms_to_arrays


def model_to_arrays(model: AdditiveModel) -> dict[str, AnyArray]:
    """The codewords, the rounds and the terms."""
    ends = np.array(model.round_ends, dtype=np.int64)
    code = {"canonical": np.array([len(model.Y)])} if is_view(model.Y) else {"Y": model.Y}
    arrays = {**code, "round_ends": ends, **terms_to_arrays(model.terms, model.dtype)}
    temperature = np.atleast_1d(np.asarray(model.temperature, dtype=np.float64))  # one, or that of every column of F
    plain = np.ndim(model.temperature) == 0 and model.temperature == 1.0
    return arrays if plain else {**arrays, "temperature": temperature}


def model_from_arrays(arrays: dict[str, AnyArray], n_classes: int, n_features: Any) -> AdditiveModel:
    """The reverse of `model_to_arrays`; the arrays must also include ``present``, which classes have codewords."""
    check_layout(arrays, {"round_ends": ENDS})
    if "canonical" in arrays:
        arrays = arrays | {"Y": canonical_from_arrays(arrays, n_classes)}
    check_codewords(arrays, n_classes)
    terms = terms_from_arrays(arrays, arrays["Y"].shape[1], n_features)
    check_ends(arrays["round_ends"], len(terms))
    model = AdditiveModel(
        arrays["Y"], terms, arrays["round_ends"].tolist(), temperature_from_arrays(arrays, arrays["Y"].shape[1])
    )
    check_range(model, arrays)
    return model


def canonical_from_arrays(arrays: dict[str, AnyArray], n_classes: int) -> AnyArray:
    """Canonical codewords, of which a file has only their number; the precision is that of the values."""
    check_layout(arrays, {"canonical": ("<i8", 1), "values": ("<f8 <f4", 1)})
    K = arrays["canonical"].tolist()
    most = len(arrays["merged"]) if "merged" in arrays else n_classes  # merged classes have several codewords
    if len(K) != 1 or not FEW < K[0] <= most:
        raise damaged("a number of codewords that is none")
    return identity(K[0], arrays["values"].dtype)


def temperature_from_arrays(arrays: dict[str, AnyArray], d: int = 1) -> Any:
    """The temperature of a model, which is 1 if nothing else is said; (d,) if it differs between the columns of F."""
    if "temperature" not in arrays:
        return 1.0
    check_layout(arrays, {"temperature": ("<f8", 1)})
    value = arrays["temperature"]
    if len(value) not in (1, d) or not ((value > 0.0) & (value < np.inf)).all():
        raise damaged("a temperature that is not a positive number")
    return float(value[0]) if len(value) == 1 else value


def program_to_arrays(program: Program) -> dict[str, AnyArray]:
    """The layers and the terms."""
    ends = np.array(program.layer_ends, dtype=np.int64)
    return {"layer_ends": ends, **terms_to_arrays(program.terms, np.float64)}


def program_from_arrays(arrays: dict[str, AnyArray], n_features: Any) -> Program:
    """The reverse of `program_to_arrays`; the coordinate of a term is its node, below the number of layers."""
    check_layout(arrays, {"layer_ends": ENDS})
    terms = terms_from_arrays(arrays, len(arrays["layer_ends"]), n_features)
    check_ends(arrays["layer_ends"], len(terms))
    program = Program(terms, arrays["layer_ends"].tolist())
    check_program(program)
    return program
