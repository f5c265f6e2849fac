"""
Noisy labels
============

If many labels are wrong, a booster spends its late rounds on them, and the test error rises again. A loss that gives up
on rows far on the wrong side helps; and rows whose own label looks doubtful can be listed and looked at.
"""

# %%
# Two fifths of the training labels of 900 digits are replaced at random; the test labels are right. With the logistic
# loss the error rises after some fifty rounds. The soft-max cost is bounded and holds its level. Savage's is bounded
# too, but does not help here.

import matplotlib.pyplot as plt
import numpy as np

from simplexboost import SimplexBoostClassifier, datasets, explain

digits = datasets.load("digits")
rng = np.random.default_rng(0)
X, truth = digits.X_train[:900], digits.y_train[:900]
wrong = rng.random(len(truth)) < 0.4
y = np.where(wrong, rng.integers(10, size=len(truth)), truth)

_, ax = plt.subplots(figsize=(6, 4), layout="constrained")
for loss, style in (("logistic", "-"), ("savage", "--"), ("softmax-cost", ":")):
    clf = SimplexBoostClassifier(n_estimators=250, loss=loss, random_state=0).fit(X, y)
    errors = [(predicted != digits.y_test).mean() for predicted in clf.staged_predict(digits.X_test)]
    ax.plot(range(1, len(errors) + 1), errors, style, label=loss)
ax.set(xlabel="round", ylabel="test error", title="two fifths of the training labels are replaced", ylim=(0, 0.4))
ax.legend()
plt.show()

# %%
# ``doubtful_labels`` fits models without each fold of the rows, and sorts the rows by the margins of their labels.
# Most of those at the top are indeed wrong.

doubtful = explain.doubtful_labels(SimplexBoostClassifier(n_estimators=40, random_state=0), X, y, cv=3)
changed = (y != truth)[doubtful.rows]
found = np.cumsum(changed)
_, ax = plt.subplots(figsize=(6, 4), layout="constrained")
ax.plot(np.arange(1, len(y) + 1), found, label="found by doubt")
ax.plot([0, len(y)], [0, found[-1]], color="0.4", linestyle="--", label="found by looking at random")
ax.set(xlabel="labels looked at", ylabel="wrong labels found")
ax.legend(loc="lower right")
plt.show()
