"""Reports: one HTML page from a fitted classifier and labelled rows, by the method of `Reports`."""

from __future__ import annotations

from typing import Any


class Reports:
    """Gives a classifier the method ``report``."""

    def report(
        self,
        X: Any,
        y: Any,
        path: Any,
        *,
        title: str | None = None,
        data: str | None = None,
        rows: Any = None,
        folds: Any = None,
    ) -> None:
        """Write a page about the model and how it does on labelled rows: one HTML file, which needs no network.

        It has headline scores with intervals, learning curves, a table of the classes, a confusion explorer with
        examples and the features that decide between two classes, a map of the classes, importances, calibration, rows
        that are probably mislabelled, and a model card. See docs/report.md.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n, p), with the columns of the fit
            Best rows that were not used in the fit; on those that were, all scores are too good, and the page says so.
        y : array of shape (n,)
            The labels of the rows, all of them among ``classes_``.
        path : str, path or binary file
            Where to write. A file appears complete or not at all.
        title : str or None
            The heading of the page; None takes the name of the classifier.
        data : str or None
            What the table is called in the model card.
        rows : array of shape (n,) or None
            What the rows are called on the page, for instance an id; None numbers them from 0.
        folds : int, splitter, iterable of (train, test) or None
            How rows that are probably mislabelled are found. None takes the margins of this model: right for rows that
            it was not fitted on. Otherwise `doubtful_labels` is called with ``cv=folds``, which fits the classifier
            anew to these rows, once per fold: right for the rows of the fit.

        Examples
        --------
        >>> import tempfile
        >>> from pathlib import Path
        >>> from sklearn.datasets import load_iris
        >>> from simplexboost import SimplexBoostClassifier
        >>> X, y = load_iris(return_X_y=True, as_frame=True)
        >>> clf = SimplexBoostClassifier(n_estimators=30, random_state=0).fit(X[::2], y[::2])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     page = Path(folder) / "report.html"
        ...     clf.report(X[1::2], y[1::2], page, title="Three irises")
        ...     "Three irises" in page.read_text(encoding="utf-8")
        True
        """
        from .page import (
            Wishes,  # not at the top: start-up time
            write_report,
        )

        wishes = Wishes(title, data, folds, first_row=0 if rows is None else None)
        write_report(self, X, y, path, wishes, rows)


__all__ = ["Reports"]
