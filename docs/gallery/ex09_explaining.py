"""
Explaining a decision
=====================

Shapley values say what each feature adds to the log-odds of each class, for every row. They are exact, and all classes
come out of one pass over the trees.
"""

# %%
# Wines of three makers, described by 13 measurements. What speaks for the first maker, and what for the third?

import matplotlib.pyplot as plt
from sklearn.datasets import load_wine

from simplexboost import SimplexBoostClassifier, explain
from simplexboost.evaluate import plot_importance, plot_shap, plot_tree

X, y = load_wine(return_X_y=True, as_frame=True)
clf = SimplexBoostClassifier(n_estimators=60, random_state=0).fit(X, y)
plot_shap(clf, X, [0, 2], most=6)
plt.show()

# %%
# Why is this wine of the second maker rather than of the first? The values of the features add up to the log-odds.

row = X.iloc[[70]]
pair = explain.explain_pair(clf, row, 1, 0)
order = abs(pair.values[0]).argsort()[-6:]
_, ax = plt.subplots(figsize=(7, 3.5), layout="constrained")
ax.barh([f"{X.columns[j]} = {row.iloc[0, j]:g}" for j in order], pair.values[0, order])
ax.axvline(0, color="0.3", linewidth=0.8)
total = pair.base + pair.values[0].sum()
ax.set(xlabel="adds to the log-odds of class 1 against class 0", title=f"log-odds {total:.2f}")
plt.show()

# %%
# Which features matter for which class:

plot_importance(clf, classes=[0, 1, 2], most=8)
plt.show()

# %%
# And one of the trees. Its leaves hold vectors, an entry for every class.

plot_tree(clf, 0, max_depth=2)
plt.show()
