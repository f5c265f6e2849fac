"""
The boosters of the papers, side by side
========================================

All multiclass boosters of the literature are put together from the same parts, so they are easy to compare.
Here they divide a plane among three Gaussian classes, whose best possible error is known: 11.4 %.
"""

# %%
# Each booster gets 40 rounds of its own weak learner.

import matplotlib.pyplot as plt

import simplexboost as sb
from simplexboost.evaluate import DecisionRegions

three = sb.datasets.make_three_gaussians(random_state=0)
X, y = three.X_train[:500], three.y_train[:500]
boosters = {
    "GD-MCBoost": sb.GDMCBoostClassifier(n_estimators=40),
    "CD-MCBoost": sb.CDMCBoostClassifier(n_estimators=40),
    "AdaBoost.MH": sb.AdaBoostMHClassifier(n_estimators=40),
    "AdaBoost.MM": sb.AdaBoostMMClassifier(n_estimators=40),
    "SAMME": sb.SAMMEClassifier(n_estimators=40),
    "SimplexBoost": sb.SimplexBoostClassifier(n_estimators=40, random_state=0),
}
figure, axes = plt.subplots(2, 3, figsize=(10, 7), layout="constrained", sharex=True, sharey=True)
for (name, clf), ax in zip(boosters.items(), axes.flat, strict=True):
    clf.fit(X, y)
    DecisionRegions.from_estimator(clf, X, y, grid=100).plot(ax=ax)
    ax.set(title=f"{name}: test error {1 - clf.score(three.X_test, three.y_test):.3f}", xlabel="", ylabel="")
    if ax.get_legend():
        ax.get_legend().remove()
plt.show()

# %%
# What each is made of:

for clf in boosters.values():
    parts = clf.parts()
    print(f"{type(clf).__name__:25} {parts.loss!r}, {parts.codewords!r}, {parts.learner!r}")
