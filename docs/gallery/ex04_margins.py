"""
Margins over rounds
===================

The margin of a row is by how much the score of its true class exceeds the best other score. Boosting does not stop
when all training rows are right: it goes on pushing small margins upwards. That is why the test error often falls
further.
"""

# %%
# Where a curve crosses zero it shows the share of training errors. After few rounds there are none, and yet the margins
# grow.

import matplotlib.pyplot as plt

from simplexboost import GDMCBoostClassifier, datasets
from simplexboost.evaluate import plot_margins

digits = datasets.load("digits")
X, y = digits.X_train[:700], digits.y_train[:700]
clf = GDMCBoostClassifier("logistic", n_estimators=120).fit(X, y)
plot_margins(clf, X, y, [5, 20, 50, 120])
plt.show()

# %%
# The errors on training and test rows, round by round.

_, ax = plt.subplots(figsize=(6, 4), layout="constrained")
for name, rows, labels in (("training", X, y), ("test", digits.X_test, digits.y_test)):
    errors = [(predicted != labels).mean() for predicted in clf.staged_predict(rows)]
    ax.plot(range(1, len(errors) + 1), errors, label=name)
ax.set(xlabel="round", ylabel="error", ylim=(0, 0.3))
ax.legend()
plt.show()
