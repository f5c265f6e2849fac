"""A minute with an installed package, without pytest and without extras: does the wheel work where it was installed?

``make wheel`` and cibuildwheel run it in a fresh environment: ``python tests/smoke.py``.
"""

import shutil
import tempfile
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits

import simplexboost as sb
from simplexboost import _kernels


def main() -> None:
    """Fit, predict, explain, save and load; every kernel is called at least once."""
    assert "site-packages" in sb.__file__, f"{sb.__file__} is not an installed package"
    X, y = load_digits(return_X_y=True)
    clf = sb.SimplexBoostClassifier(n_estimators=60, random_state=0).fit(X[::2], y[::2])
    accuracy = clf.score(X[1::2], y[1::2])
    assert accuracy > 0.94, accuracy
    values = sb.explain.shap_values(clf, X[:5])
    assert np.allclose(values.sum(axis=1) + sb.explain.expected_value(clf), 2 * clf.class_scores(X[:5]))
    with tempfile.TemporaryDirectory() as folder:
        clf.save(Path(folder, "model.sb"))
        again = sb.load(Path(folder, "model.sb"))
        assert (again.predict_proba(X) == clf.predict_proba(X)).all()
        sb.export.python(clf, Path(folder, "model.py"))
        sb.export.c(clf, Path(folder, "model.c"))
    assert sb.AdaBoostMHClassifier(n_estimators=5).fit(X[::2], y[::2]).score(X[1::2], y[1::2]) > 0.8
    assert sb.MulticlassSVC(kernel="rbf", gamma=1e-3).fit(X[:300], y[:300]).score(X[:300], y[:300]) > 0.95
    assert 0 < sb.theory.potential(20, "uniform", 4, 0.2) < 1
    compilers = [name for name in ("cc", "gcc", "clang", "c++", "cl") if shutil.which(name)]
    print(
        f"simplexboost {sb.__version__} works: {accuracy:.3f} on digits, instruction set {_kernels.instruction_set()},"
    )
    print(f"compilers in reach: {', '.join(compilers) or 'none'}")


if __name__ == "__main__":
    main()
