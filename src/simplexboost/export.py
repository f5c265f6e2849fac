"""Saving and loading: a zip file of a JSON header and raw arrays with checksums, never a pickle.

The same model always gives the same bytes. ``header.json`` names the format version, the class, its parameters and the
arrays (type, shape, SHA-256); every array is a file of raw little-endian numbers.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import stat
import zipfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from . import codewords, learners, losses, optimizers, steps
from ._parts import Part
from ._typing import AnyArray
from .categories import Categories
from .engine import NODE, SET_BYTES, Tree, no_sets, node_bytes
from .hypotheses import Hypothesis, LinearHypothesis, TreeHypothesis
from .model import AdditiveModel, Term

FORMAT = "simplexboost"
VERSION = 1
LONG_AGO = (1980, 1, 1, 0, 0, 0)  # a fixed date, so that equal models are equal files


def save(estimator: Any, path: str | Path) -> None:
    """Write a fitted classifier; the file appears whole or not at all."""
    header, arrays = pack(estimator)
    about = {name: describe(values) for name, values in arrays.items()}
    write_zip(Path(path), {"format": FORMAT, "version": VERSION, **header, "arrays": about}, arrays)


class Saves:
    """Gives an estimator its ``save``."""

    def save(self, path: str | Path) -> None:
        """Write the fitted classifier to a file that `simplexboost.load` reads; never a pickle."""
        save(self, path)


def load(path: str | Path) -> Any:
    """Read a classifier back.

    Parameters
    ----------
    path : the file that ``save`` wrote

    Returns
    -------
    The fitted classifier: it predicts exactly as the one that was saved.

    Examples
    --------
    >>> import tempfile, simplexboost
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = simplexboost.GDMCBoostClassifier(n_estimators=3).fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     clf.save(f"{folder}/iris.sb")
    ...     again = simplexboost.load(f"{folder}/iris.sb")
    >>> bool((again.decision_function(X) == clf.decision_function(X)).all())
    True
    """
    return unpack(*read_zip(Path(path)))


# ---- a classifier as a header and arrays ----------------------------------------------------------------------------


def pack(estimator: Any) -> tuple[dict[str, Any], dict[str, AnyArray]]:
    """What every classifier has, and what it adds by itself: boosters their model, others what ``_pack`` gives."""
    check_is_fitted(estimator)
    if not is_public(type(estimator)):
        raise TypeError(
            f"a {type(estimator).__name__} cannot be saved without pickle; only classifiers of simplexboost can."
        )
    more, arrays = estimator._pack() if hasattr(estimator, "_pack") else pack_booster(estimator)
    header = {
        "class": type(estimator).__name__,
        "parameters": parameters_to_json(estimator),
        "classes": labels_to_json(estimator.classes_),
        "n_features_in": int(estimator.n_features_in_),
        "feature_names_in": [str(name) for name in getattr(estimator, "feature_names_in_", [])],
        **more,
    }
    return header, arrays


def unpack(header: dict[str, Any], arrays: dict[str, AnyArray]) -> Any:
    """The reverse of `pack`."""
    kind, parameters = estimator_class(header["class"]), parameters_from_json(header["parameters"])
    if not set(parameters) <= set(kind().get_params(deep=False)):
        raise damaged(f"parameters that {kind.__name__} does not take")
    estimator = kind(**parameters)
    estimator.classes_ = labels_from_json(header["classes"])
    estimator.n_features_in_ = header["n_features_in"]
    if header["feature_names_in"]:
        estimator.feature_names_in_ = np.array(header["feature_names_in"], dtype=object)
    estimator._unpack(header, arrays) if hasattr(estimator, "_unpack") else unpack_booster(estimator, header, arrays)
    return estimator


def pack_booster(estimator: Any) -> tuple[dict[str, Any], dict[str, AnyArray]]:
    """The model, its history, and what prediction needs beside them."""
    arrays = model_to_arrays(estimator.model_)
    arrays |= {f"history.{name}": values for name, values in estimator.history_.items() if name != "seconds"}
    arrays["present"] = estimator.present_.astype(np.uint8)
    categories = None if estimator.categories_ is None else categories_to_json(estimator.categories_)
    threshold = threshold_to_json(getattr(estimator, "threshold_", None))
    return {"categories": categories, "stop_reason": estimator.stop_reason_, "threshold": threshold}, arrays


def unpack_booster(estimator: Any, header: dict[str, Any], arrays: dict[str, AnyArray]) -> None:
    """The reverse of `pack_booster`."""
    check_arrays(arrays, len(estimator.classes_))
    model = model_from_arrays(arrays)
    check_terms(model, header["n_features_in"])
    estimator.model_ = model
    estimator.n_iter_ = model.n_rounds
    estimator.stop_reason_ = header["stop_reason"]
    estimator.history_ = {k.removeprefix("history."): v for k, v in arrays.items() if k.startswith("history.")}
    estimator.present_ = arrays["present"].astype(bool)
    if getattr(estimator, "multilabel", False):
        estimator.threshold_ = None if header["threshold"] is None else np.array(header["threshold"])
    columns = header["categories"]
    estimator.categories_ = None if columns is None else Categories([c and labels_from_json(c) for c in columns])


def estimator_class(name: str) -> type:
    """A public estimator of the package by its name."""
    import simplexboost

    found = getattr(simplexboost, name, None) if name in simplexboost.__all__ else None
    if not isinstance(found, type):
        raise ValueError(f"the file holds a {name!r}, which this version of simplexboost does not have.")
    return found


def is_public(kind: type) -> bool:
    """Whether it is one of the package's classifiers."""
    import simplexboost

    return kind.__name__ in simplexboost.__all__ and getattr(simplexboost, kind.__name__) is kind


# ---- the model as arrays --------------------------------------------------------------------------------------------


def model_to_arrays(model: AdditiveModel) -> dict[str, AnyArray]:
    """Terms side by side: a kind for each (0 tree, 1 linear), sizes, and everything else concatenated."""
    hypotheses = [term.hypothesis for term in model.terms]
    trees = [h.tree for h in hypotheses if isinstance(h, TreeHypothesis)]
    lines = [h for h in hypotheses if isinstance(h, LinearHypothesis)]
    return {
        "Y": model.Y,
        "round_ends": np.array(model.round_ends, dtype=np.int64),
        "step": np.array([term.step for term in model.terms], dtype=np.float64),
        "coordinate": np.array([-1 if t.coordinate is None else t.coordinate for t in model.terms], dtype=np.int32),
        "kind": np.array([isinstance(h, LinearHypothesis) for h in hypotheses], dtype=np.uint8),
        **values_to_arrays([values_of(h) for h in hypotheses], model.dtype),
        "n_nodes": np.array([len(tree.nodes) for tree in trees], dtype=np.int64),
        "nodes": joined([node_bytes(tree.nodes).ravel() for tree in trees], np.uint8),
        "gain": joined([tree.gain for tree in trees], np.float64),
        "count": joined([tree.count for tree in trees], np.int64),
        "n_sets": np.array([len(tree.category_sets) for tree in trees], dtype=np.int64),
        "category_sets": np.concatenate([no_sets(), *(tree.category_sets for tree in trees)]),
        "linear_feature": np.array([h.feature for h in lines], dtype=np.int64),
        "linear_centre": np.array([h.centre for h in lines], dtype=np.float64),
    }


def values_to_arrays(values: list[Any], dtype: Any) -> dict[str, AnyArray]:
    """The values of all terms; where they are sparse, with their columns and how many there are in each row."""
    shapes = np.array([v.shape for v in values], dtype=np.int64).reshape(-1, 2)
    if not any(issparse(v) for v in values):
        return {"value_shape": shapes, "values": joined([v.ravel() for v in values], dtype)}
    rows, few = [csr_array(v) for v in values], np.uint16 if shapes[:, 1].max() <= 2**16 else np.uint32
    return {
        "value_shape": shapes,
        "values": joined([v.data for v in rows], dtype),
        "columns": joined([v.indices.astype(few) for v in rows], few),
        "row_sizes": joined([np.diff(v.indptr).astype(np.uint32) for v in rows], np.uint32),
    }


def values_from_arrays(arrays: dict[str, AnyArray]) -> list[Any]:
    """The reverse of `values_to_arrays`."""
    shapes, flat = arrays["value_shape"], arrays["values"]
    if "columns" not in arrays:
        return [v.reshape(shape) for v, shape in zip(cut(flat, shapes.prod(axis=1)), shapes, strict=True)]
    sizes = cut(arrays["row_sizes"].astype(np.int64), shapes[:, 0])
    totals = np.array([size.sum() for size in sizes], dtype=np.int64)
    columns = cut(arrays["columns"].astype(np.int32), totals)
    starts = [np.concatenate([[0], np.cumsum(size)]) for size in sizes]
    parts = zip(cut(flat, totals), columns, starts, shapes, strict=True)
    return [checked_rows(csr_array((v, at, start), shape=tuple(shape))) for v, at, start, shape in parts]


def checked_rows(values: csr_array) -> csr_array:
    """The sparse values, if all of them lie inside their shape."""
    try:
        values.check_format(full_check=True)
    except ValueError as error:
        raise damaged("sparse values outside their shape") from error
    return values


def cut(values: AnyArray, sizes: AnyArray) -> list[AnyArray]:
    """The array cut into consecutive parts, one for every size: none of nothing, of which `np.split` makes one."""
    if (sizes < 0).any() or (sizes > len(values)).any() or sizes.sum() != len(values):
        raise damaged("arrays whose sizes do not fit together")
    ends = np.cumsum(sizes)
    return [values[end - size : end] for size, end in zip(sizes, ends, strict=True)]


def values_of(h: Hypothesis) -> Any:
    """What a hypothesis answers with: leaf values (L, d), or slope and intercept (2, d)."""
    if isinstance(h, TreeHypothesis):
        return h.values
    if isinstance(h, LinearHypothesis):
        return np.stack([h.slope, h.intercept])
    raise TypeError(
        f"a model with {type(h).__name__} terms cannot be saved: scikit-learn estimators inside it would need pickle. "
        "Use one of the package's own learners."
    )


def model_from_arrays(arrays: dict[str, AnyArray]) -> AdditiveModel:
    """The reverse of `model_to_arrays`."""
    n_nodes = arrays["n_nodes"]
    nodes = cut(arrays["nodes"].view(NODE), n_nodes)
    gain, count = cut(arrays["gain"], n_nodes), cut(arrays["count"], n_nodes)
    sets = cut(arrays["category_sets"], arrays["n_sets"])
    trees = (checked(Tree(*parts)) for parts in zip(nodes, gain, count, sets, strict=True))
    lines = zip(arrays["linear_feature"].tolist(), arrays["linear_centre"].tolist(), strict=True)
    values = values_from_arrays(arrays)
    terms = []
    for i, kind in enumerate(arrays["kind"]):
        hypothesis: Hypothesis
        hypothesis = LinearHypothesis(*next(lines), *values[i]) if kind else TreeHypothesis(next(trees), values[i])
        coordinate = int(arrays["coordinate"][i])
        terms.append(Term(hypothesis, float(arrays["step"][i]), None if coordinate < 0 else coordinate))
    return AdditiveModel(arrays["Y"], terms, arrays["round_ends"].tolist())


def joined(parts: list[AnyArray], dtype: Any) -> AnyArray:
    """The arrays one after another; an empty one where there are none."""
    return np.concatenate([np.empty(0, dtype=dtype), *parts])


# ---- refusing damaged models ----------------------------------------------------------------------------------------

# The arrays of a model: what types they may have, and how many axes. Sparse values have two more.
LAYOUT = {
    "Y": ("<f8 <f4", 2),
    "round_ends": ("<i8", 1),
    "step": ("<f8", 1),
    "coordinate": ("<i4", 1),
    "kind": ("|u1", 1),
    "value_shape": ("<i8", 2),
    "values": ("<f8 <f4", 1),
    "n_nodes": ("<i8", 1),
    "nodes": ("|u1", 1),
    "gain": ("<f8", 1),
    "count": ("<i8", 1),
    "n_sets": ("<i8", 1),
    "category_sets": ("|u1", 2),
    "linear_feature": ("<i8", 1),
    "linear_centre": ("<f8", 1),
    "present": ("|u1", 1),
}
SPARSE_LAYOUT = {"columns": ("<u2 <u4", 1), "row_sizes": ("<u4", 1)}


def damaged(what: str) -> ValueError:
    """The error for a file that holds something impossible, although its checksums are right."""
    return ValueError(f"the file holds {what}; it is damaged.")


def check_arrays(arrays: dict[str, AnyArray], n_classes: int) -> None:
    """Raise where the arrays of a model are not what `model_to_arrays` writes, or do not fit each other."""
    check_layout(arrays, LAYOUT | (SPARSE_LAYOUT if "columns" in arrays or "row_sizes" in arrays else {}))
    for name in ("Y", "values", "step", "linear_centre"):
        if not np.isfinite(arrays[name]).all():
            raise damaged(f"infinities or NaN in {name!r}")
    (K, d), present = arrays["Y"].shape, arrays["present"]
    if present.shape != (n_classes,) or (present > 1).any() or present.sum() != K:
        raise damaged("codewords that do not fit its classes")
    kind, ends = arrays["kind"], arrays["round_ends"]
    n_linear, n = int((kind == 1).sum()), len(kind)
    lengths = {"step": n, "coordinate": n, "value_shape": n, "linear_feature": n_linear, "linear_centre": n_linear}
    lengths |= {"n_nodes": n - n_linear, "n_sets": n - n_linear}
    if (kind > 1).any() or any(len(arrays[name]) != length for name, length in lengths.items()):
        raise damaged("arrays whose sizes do not fit together")
    if (np.diff(ends, prepend=0) < 0).any() or (ends[-1] if len(ends) else 0) != n:
        raise damaged("rounds that do not fit its terms")
    if (arrays["coordinate"] < -1).any() or (arrays["coordinate"] >= d).any():
        raise damaged("coordinates that its codewords do not have")
    if "columns" in arrays and (arrays["coordinate"] >= 0).any():
        raise damaged("sparse values that belong to one coordinate only")


def check_layout(arrays: dict[str, AnyArray], layout: dict[str, tuple[str, int]]) -> None:
    """Raise where an array is missing, or has another type or number of axes than the layout says."""
    for name, (dtypes, n_axes) in layout.items():
        if name not in arrays:
            raise damaged(f"a model without the array {name!r}")
        if arrays[name].dtype not in map(np.dtype, dtypes.split()) or arrays[name].ndim != n_axes:
            raise damaged(f"an array {name!r} of type {arrays[name].dtype} and shape {arrays[name].shape}")
    shapes = arrays["value_shape"]
    if shapes.shape[1] != 2 or (shapes < 0).any() or (shapes > 2**31).any() or len(arrays["nodes"]) % NODE.itemsize:
        raise damaged("arrays whose sizes do not fit together")


def check_terms(model: AdditiveModel, n_features: Any) -> None:
    """Raise where a term does not fit the codewords or the features."""
    if type(n_features) is not int or n_features < 1:
        raise damaged(f"a number of features that is none, {n_features!r}")
    d = model.Y.shape[1]
    for term in model.terms:
        h, width = term.hypothesis, d if term.coordinate is None else 1
        if isinstance(h, TreeHypothesis):
            fits = h.values.shape == (h.tree.n_leaves, width) and h.tree.nodes["feature"].max() < n_features
        elif isinstance(h, LinearHypothesis):
            fits = h.slope.shape == (width,) and 0 <= h.feature < n_features
        if not fits:
            raise damaged("a term that does not fit its codewords or features")
    check_kinds_of_splits(model)


def check_kinds_of_splits(model: AdditiveModel) -> None:
    """Raise where the trees split a feature by thresholds and by categories."""
    nodes = np.concatenate([np.empty(0, NODE), *(tree.nodes for tree in model.trees)])
    inner, by_category = nodes["feature"] >= 0, nodes["category"] >= 0
    if len(np.intersect1d(nodes["feature"][inner & by_category], nodes["feature"][inner & ~by_category])):
        raise damaged("a feature that is split by thresholds and by categories")


def checked(tree: Tree) -> Tree:
    """The tree, if every path leads forward to a leaf that has a value, and every split has its threshold or set."""
    inner, left = tree.nodes["feature"] >= 0, tree.nodes["left"].astype(np.int64)
    children = np.concatenate([left[inner], left[inner] + 1])
    forward = (left[inner] > np.flatnonzero(inner)).all() and same_numbers(children, np.arange(1, len(left)))
    if not len(left) or not forward or not same_numbers(left[~inner], np.arange(tree.n_leaves)):
        raise damaged("a tree whose nodes do not lead to its leaves")
    category, sets = tree.nodes["category"], tree.category_sets
    if (category < -1).any() or (category >= len(sets)).any() or sets.shape[1:] != (SET_BYTES,):
        raise damaged("a tree with splits of categories but without their sets")
    if np.isnan(tree.nodes["threshold"]).any():
        raise damaged("a tree with thresholds that are NaN")
    return tree


def same_numbers(some: AnyArray, others: AnyArray) -> bool:
    """Whether both hold the same numbers, in any order."""
    return np.array_equal(np.sort(some), np.sort(others))


# ---- parameters and labels as JSON ----------------------------------------------------------------------------------

PART_TYPES: dict[str, type[Part]] = {
    cls.__name__: cls
    for module in (codewords, learners, losses, optimizers, steps)
    for cls in vars(module).values()
    if isinstance(cls, type) and issubclass(cls, Part)
}


def parameters_to_json(estimator: Any) -> dict[str, Any]:
    """Constructor parameters; callbacks are left out, a random state that is not a number becomes None."""
    parameters = estimator.get_params(deep=False)
    parameters.pop("callbacks", None)
    if not isinstance(parameters.get("random_state"), int | np.integer | None):
        parameters["random_state"] = None
    return {name: to_json(value, name) for name, value in parameters.items()}


def parameters_from_json(parameters: dict[str, Any]) -> dict[str, Any]:
    """The reverse of `parameters_to_json`."""
    return {name: from_json(value) for name, value in parameters.items()}


def to_json(value: Any, name: str) -> Any:
    """A parameter as JSON: numbers and strings as they are; parts, arrays and dicts as tagged objects."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, np.generic):
        return to_json(value.item(), name)
    if isinstance(value, Part) and type(value).__name__ in PART_TYPES:
        parameters = {k: to_json(v, f"{name}__{k}") for k, v in value.get_params(deep=False).items()}
        return {"part": type(value).__name__, "parameters": parameters}
    if isinstance(value, BaseEstimator) and is_public(type(value)):
        return {"estimator": type(value).__name__, "parameters": parameters_to_json(value)}
    if isinstance(value, np.ndarray):
        return {"array": labels_to_json(value)}
    if isinstance(value, list | tuple):
        return {"list": [to_json(v, name) for v in value]}
    if isinstance(value, dict):
        return {"dict": [[to_json(k, name), to_json(v, name)] for k, v in value.items()]}
    raise TypeError(f"{name}={value!r} cannot be saved; only numbers, strings, arrays and the package's parts can.")


def from_json(value: Any) -> Any:
    """The reverse of `to_json`."""
    if not isinstance(value, dict):
        return value
    if "part" in value:
        return PART_TYPES[value["part"]](**{k: from_json(v) for k, v in value["parameters"].items()})
    if "estimator" in value:
        return estimator_class(value["estimator"])(**parameters_from_json(value["parameters"]))
    if "array" in value:
        return labels_from_json(value["array"])
    if "list" in value:
        return [from_json(v) for v in value["list"]]
    return {from_json(k): from_json(v) for k, v in value["dict"]}


def categories_to_json(categories: Categories) -> list[Any]:
    """The categories of every column, None for numeric ones."""
    return [None if values is None else labels_to_json(values) for values in categories.columns]


def threshold_to_json(threshold: AnyArray | None) -> list[float] | None:
    """The threshold of a classifier that was fitted to several labels an example."""
    return None if threshold is None else threshold.tolist()


def labels_to_json(labels: AnyArray) -> dict[str, Any]:
    """An array of numbers or strings as a list and its type."""
    if labels.dtype == object:
        kinds = {type(v) for v in labels.ravel().tolist()}
        if not kinds <= {str, int, float, bool}:
            raise TypeError(f"labels of types {sorted(k.__name__ for k in kinds)} cannot be saved; use str or numbers.")
    return {"dtype": labels.dtype.str if labels.dtype != object else "object", "values": labels.tolist()}


def labels_from_json(value: dict[str, Any]) -> AnyArray:
    """The reverse of `labels_to_json`."""
    return np.array(value["values"], dtype=np.dtype(value["dtype"]))


# ---- the file -------------------------------------------------------------------------------------------------------


def raw(values: AnyArray) -> bytes:
    """The array's bytes, little-endian, rows first."""
    return np.ascontiguousarray(values, dtype=values.dtype.newbyteorder("<")).tobytes()


def describe(values: AnyArray) -> dict[str, Any]:
    """What the header says of an array."""
    dtype = values.dtype.newbyteorder("<").str
    return {"dtype": dtype, "shape": list(values.shape), "sha256": hashlib.sha256(raw(values)).hexdigest()}


def write_zip(path: Path, header: dict[str, Any], arrays: dict[str, AnyArray]) -> None:
    """Write beside the target, then move into place: a reader never sees half a file.

    A link is followed. An old file's permissions are kept, a new file gets those that ``open`` would give it.
    """
    old = permissions(path)
    target = Path(os.path.realpath(path))
    temporary = target.with_name(f"{target.name}.{secrets.token_hex(4)}")
    # Made with the right permissions rather than given them later: at no time can others read a private model.
    opener = partial(os.open, mode=0o666 if old is None else old)
    stream = open(temporary, "xb", opener=opener)  # noqa: SIM115 (closed below; where it fails there is nothing to undo)
    try:
        with stream, zipfile.ZipFile(stream, "w") as archive:
            add: Callable[[str, bytes], None] = lambda name, data: archive.writestr(  # noqa: E731
                zipfile.ZipInfo(name, LONG_AGO), data, zipfile.ZIP_DEFLATED
            )
            add("header.json", json.dumps(header, indent=1).encode())
            for name, values in arrays.items():
                add(name, raw(values))
        if old is not None:
            os.chmod(temporary, old)  # with the bits that the umask took away
        os.replace(temporary, target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def permissions(path: Path) -> int | None:
    """Those of the file that is there, or None where there is none; raise where a model cannot take its place."""
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(mode):
        what = "a directory" if stat.S_ISDIR(mode) else "a pipe, device or socket"
        raise OSError(
            f"path={str(path)!r} is {what}; a model is saved as a regular file, new or in place of an old one."
        )
    return stat.S_IMODE(mode)


def read_zip(path: Path) -> tuple[dict[str, Any], dict[str, AnyArray]]:
    """Header and arrays, checked."""
    try:
        with zipfile.ZipFile(path) as archive:
            header = json.loads(archive.read("header.json"))
            if header.get("format") != FORMAT:
                raise ValueError(f"{path} is not a simplexboost model file.")
            if header["version"] > VERSION:
                raise ValueError(
                    f"{path} has format version {header['version']}; this simplexboost reads up to {VERSION}."
                )
            contents = {name: archive.read(name) for name in header["arrays"]}
    except (zipfile.BadZipFile, KeyError, json.JSONDecodeError) as error:
        raise ValueError(f"{path} is not a simplexboost model file, or it is damaged ({error}).") from error
    return header, {name: restore(path, name, contents[name], about) for name, about in header["arrays"].items()}


def restore(path: Path, name: str, data: bytes, about: dict[str, Any]) -> AnyArray:
    """An array from its bytes, if the checksum agrees."""
    if hashlib.sha256(data).hexdigest() != about["sha256"]:
        raise ValueError(f"{path} is damaged: the checksum of {name!r} does not match.")
    return np.frombuffer(data, dtype=np.dtype(about["dtype"])).reshape(about["shape"]).copy()
