"""What must survive saving, pickling and copying: many fits of every classifier, and all that is public of them."""

import re
from dataclasses import fields, is_dataclass
from inspect import Parameter, isgenerator, signature

import numpy as np
import pandas as pd
from cases import CLASSIFIERS, SETTINGS
from scipy.sparse import csr_matrix, issparse
from sklearn.datasets import load_iris

import simplexboost as sb
from simplexboost import decide
from simplexboost.classifiers.prediction import AdditiveClassifier
from simplexboost.parts.codewords import Auto

X, y = load_iris(return_X_y=True)
NAMES = np.array(["setosa", "versicolor", "virginica"])
TREE = sb.Hierarchy({"small": ["setosa"], "large": ["versicolor", "virginica"]})
FRAME = pd.DataFrame(X, columns=["a", "b", "c", "d"])
FRAME["e"] = pd.Categorical(NAMES[np.roll(y, 20)])
SEVERAL = np.eye(3, dtype=int)[y] | (X[:, :3] > 3.4)
TWO = NAMES[np.minimum(y, 1)]
SETS = {"X_val": (X[::2], X[1::2]), "y_val": (y[::2], y[1::2]), "eval_metric": ["error", "log_loss"]}


def small(name, **more):
    """A classifier of this name that is fitted quickly."""
    kind = CLASSIFIERS[name]
    takes = kind().get_params(deep=False)
    few = {"n_estimators": 4, "n_layers": 3, "random_state": 0, "estimator": None}
    if "estimator" in takes:
        few["estimator"] = sb.SimplexBoostClassifier(n_estimators=2)
    return kind(**{**{k: v for k, v in few.items() if k in takes}, **SETTINGS.get(name, {}), **more})


BOOSTERS = [name for name, kind in CLASSIFIERS.items() if "n_estimators" in kind().get_params(deep=False)]
flagship = sb.SimplexBoostClassifier
CASES = {
    **{f"{name} two classes": (small(name), X, TWO, {}) for name in CLASSIFIERS},
    **{
        f"{name} names": (small(name), FRAME[list("abcd")], NAMES[y], {}) for name in CLASSIFIERS if "Marti" not in name
    },
    **{f"{name} followed": (small(name), X, y, SETS) for name in BOOSTERS},
    **{f"{name} stops": (small(name, n_estimators=30, early_stopping=True), X, y, {}) for name in BOOSTERS},
    **{f"{name} absent": (small(name, classes=range(5), class_weight="balanced"), X, y, {}) for name in BOOSTERS},
    "several labels": (small("AdaBoostMHClassifier"), X, SEVERAL, {}),
    "several ranked": (small("AdaBoostM2Classifier"), X, SEVERAL, {}),
    "choice": (flagship(random_state=0, learning_rate=1.0, max_leaf_nodes=8), FRAME, NAMES[y], {}),
    "categories": (
        flagship(n_estimators=4, calibration=1.5, random_state=0),
        FRAME,
        y,
        SETS | {"X_val": FRAME, "y_val": y},
    ),
    "sampled": (flagship(n_estimators=4, subsample=0.5, random_state=np.random.RandomState(1)), X, y, {}),
    "sparse": (flagship(n_estimators=3, random_state=0), X.repeat(3, axis=0), np.arange(450) % 50, {}),
    "code": (flagship(n_estimators=3, codewords=Auto(2), random_state=0), X, y, {}),
    "ordered": (flagship(n_estimators=3, classes=sb.Ordinal(list(NAMES[::-1])), random_state=0), X, NAMES[y], {}),
    "tree": (flagship(n_estimators=3, classes=TREE, random_state=0), X, NAMES[y], {}),
    "lines": (sb.BoostingClassifier(learner="linear", optimizer="all-coordinates", n_estimators=3), X, y, {}),
    "kernel": (sb.MulticlassSVC(kernel="rbf", C=3), X, NAMES[y], {}),
    "polynomial": (sb.MulticlassSVC(kernel="poly", degree=2, coef0=1), X, y, {}),
    "precomputed": (sb.MulticlassSVC(kernel="precomputed"), X @ X.T, y, {}),
    "sparse rows": (sb.MulticlassSVC(kernel="rbf"), csr_matrix(np.where(X > 2, X, 0)), y, {}),
    "stochastic": (sb.MulticlassSVC(solver="sgd", max_iter=50, tol=0.9, random_state=0), X / 10, y, {}),
    "machines": (sb.OutputCodeClassifier(sb.MulticlassSVC(), "all-pairs", random_state=0), X, NAMES[y], {}),
    "nested": (sb.OutputCodeClassifier(sb.OutputCodeClassifier(sb.CDMCBoostClassifier(n_estimators=2))), X, y, {}),
    "random code": (sb.OutputCodeClassifier(small("SAMMEClassifier"), "random-dense", random_state=0), X, y, {}),
}
UNTIMED = {"seconds"}  # differ from fit to fit, so that files of equal models are equal without them


def differences(a, b, where=""):
    """Where two values differ, in type or by a bit; the insides of objects are compared too."""
    if type(a) is not type(b):
        return [f"{where}: {type(a).__name__} became {type(b).__name__}"]
    if isinstance(a, np.ndarray):
        same = a.dtype == b.dtype and a.shape == b.shape
        same = same and (a.tolist() == b.tolist() if a.dtype.kind in "OV" else a.tobytes() == b.tobytes())
        return [] if same else [f"{where}: {a!r} became {b!r}"]
    if isinstance(a, dict):
        keys = (a.keys() | b.keys()) - (UNTIMED if "history_" in where else set())
        return [d for k in keys for d in differences(a.get(k, "nothing"), b.get(k, "nothing"), f"{where}[{k!r}]")]
    if isinstance(a, list | tuple):
        pairs = enumerate(zip(a, b, strict=False))
        return [f"{where}: other length"] * (len(a) != len(b)) + [
            d for i, (v, w) in pairs for d in differences(v, w, f"{where}[{i}]")
        ]
    if isinstance(a, np.random.RandomState):
        return differences(a.get_state(legacy=False), b.get_state(legacy=False), where)
    if issparse(a):
        return differences([a.data, a.indices, a.indptr, a.shape], [b.data, b.indices, b.indptr, b.shape], where)
    if hasattr(a, "__dict__") and not isinstance(a, type):
        return differences(public(a), public(b), where)
    return [] if repr(a) == repr(b) else [f"{where}: {a!r} became {b!r}"]


UNSAVED = {"plan_"}  # what files do not hold


def public(part):
    """The attributes of an object; of a dataclass its fields, without what it keeps to be faster."""
    names = [field.name for field in fields(part)] if is_dataclass(part) else vars(part)
    fitted = [name for name in vars(part) if name.endswith("_")]
    return {name: getattr(part, name) for name in {*names, *fitted} - UNSAVED if not name.startswith("_")}


def attributes(clf):
    """All fitted attributes: those that are stored, those that are computed, and those that the docstring names."""
    computed = {name for kind in type(clf).__mro__ for name, v in vars(kind).items() if isinstance(v, property)}
    text = (type(clf).__doc__ or "").partition("Attributes\n")[2].partition("Notes\n")[0]
    documented = {
        name for names in re.findall(r"^ *((?:\w+_(?:, )?)+) :", text, re.MULTILINE) for name in names.split(", ")
    }
    names = {name for name in {*vars(clf), *computed, *documented} if name.endswith("_") and not name.startswith("_")}
    return {name: getattr(clf, name) for name in names - UNSAVED if hasattr(clf, name)}


def answers(clf, table, labels):
    """What every public method says."""
    known = {"X": table, "random_state": 0} | ({"y": labels} if np.ndim(labels) == 1 else {})
    changing = {"fit", "partial_fit", "save", "set_params", "get_metadata_routing", "set_output"}
    out = {}
    if isinstance(clf, AdditiveClassifier) and np.ndim(labels) == 1:
        shares = decide.estimate_prior(clf, table)
        sets = decide.predict_sets(decide.calibrate_sets(clf, table, labels), table)
        out["decide"] = [shares, sets, decide.predict_or_abstain(clf, table), decide.predict(clf, table, prior=shares)]
    for name in dir(clf):
        method = getattr(clf, name, None)
        if name.startswith("_") or name in changing or not callable(method) or name.startswith("set_"):
            continue
        takes = signature(method).parameters
        needed = {k for k, p in takes.items() if p.default is Parameter.empty and p.kind is not Parameter.VAR_KEYWORD}
        if needed and needed <= known.keys():
            value = method(**{k: known[k] for k in takes if k in known})
            out[name] = [np.copy(v) for v in value] if isgenerator(value) or hasattr(value, "__next__") else value
    return out
