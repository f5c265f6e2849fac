"""``simplexboost demo``."""

from __future__ import annotations

import time

import click
import numpy as np
from sklearn.datasets import load_digits
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split
from threadpoolctl import threadpool_limits

import simplexboost

from ..talk import Talk

ROUNDS = 400


@click.command("demo", short_help="Handwritten digits, beside scikit-learn's boosting.")
@click.option("-q", "--quiet", is_flag=True, help="No progress on standard error.")
def command(quiet: bool) -> None:
    """Handwritten digits, ten classes: this package beside scikit-learn's gradient boosting, in one thread.

    \b
    Example:
      simplexboost demo
    """
    X, y = load_digits(return_X_y=True)
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.3, stratify=y, random_state=0)
    models = {
        "SimplexBoost, defaults": simplexboost.SimplexBoostClassifier(random_state=0),
        f"SimplexBoost, {ROUNDS} rounds": simplexboost.SimplexBoostClassifier(n_estimators=ROUNDS, random_state=0),
        "scikit-learn HGB, defaults": HistGradientBoostingClassifier(random_state=0),
    }
    print(f"Digits: {len(X)} images of 8 x 8 pixels, 10 classes; {len(X_train)} to fit, {len(X_test)} to predict.\n")
    print(f"{'':28}{'accuracy':>9}{'log-loss':>10}{'trees':>7}{'fit time':>10}", flush=True)
    with threadpool_limits(1), Talk(quiet).counting("models fitted", len(models)) as advance:
        lines = []
        for name, model in models.items():
            begin = time.perf_counter()
            model.fit(X_train, y_train)
            seconds = time.perf_counter() - begin
            P = model.predict_proba(X_test)
            accuracy = np.mean(model.classes_[P.argmax(axis=1)] == y_test)
            trees = model.n_iter_ * (1 if hasattr(model, "model_") else len(model.classes_))
            lines.append(f"{name:28}{accuracy:9.4f}{log_loss(y_test, P):10.4f}{trees:7}{seconds:8.2f} s")
            advance(1)
    print("\n".join(lines))
    print("\nOne of our trees answers for all ten classes at once, so a round costs one tree, not ten.")
