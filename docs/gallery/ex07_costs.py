"""
Costly mistakes
===============

Not all mistakes are equally bad. A cost matrix says how much it matters to tell one class (row) from another (column),
and the boundaries move away from the costly side.
"""

# %%
# Taking class 0 for class 1 is ten times as bad as any other mistake.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import confusion_matrix

from simplexboost import SimplexBoostClassifier, datasets
from simplexboost.evaluate import DecisionRegions
from simplexboost.parts.losses import Logistic

three = datasets.make_three_gaussians(random_state=0)
X, y = three.X_train[:800], three.y_train[:800]
costs = np.ones((3, 3))
costs[0, 1] = 10

figure, axes = plt.subplots(1, 2, figsize=(10, 4.5), layout="constrained", sharey=True)
for matrix, title, ax in ((None, "all mistakes alike", axes[0]), (costs, "0 taken for 1 costs ten", axes[1])):
    clf = SimplexBoostClassifier(n_estimators=60, loss=Logistic(cost_matrix=matrix), random_state=0).fit(X, y)
    counts = confusion_matrix(three.y_test, clf.predict(three.X_test))
    DecisionRegions.from_estimator(clf, X, y, grid=120).plot(ax=ax)
    ax.set_title(f"{title}: {counts[0, 1]} of {counts[0].sum()}")
plt.show()
