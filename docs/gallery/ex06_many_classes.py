"""
Many classes
============

A round costs one tree, whatever the number of classes. And the pictures stay readable: similar classes are put beside
each other, and where there are many of them the worst block is magnified.
"""

# %%
# 120 classes, made on the spot: every class is a cloud around a point in ten dimensions.

import matplotlib.pyplot as plt
from sklearn.datasets import make_blobs
from sklearn.model_selection import train_test_split

from simplexboost import SimplexBoostClassifier, decide
from simplexboost.evaluate import ClassTable, Confusion, plot_class_map

X, y = make_blobs(4800, 10, centers=120, cluster_std=2.0, center_box=(-6, 6), random_state=0)
X, X_test, y, y_test = train_test_split(X, y, test_size=0.4, random_state=0, stratify=y)
clf = SimplexBoostClassifier(n_estimators=60, random_state=0).fit(X, y)
print(f"accuracy {clf.score(X_test, y_test):.3f} with {len(clf.model_.trees)} trees")
Confusion.from_estimator(clf, X_test, y_test).plot()
plt.show()

# %%
# The two most probable classes of a row, without an array of rows × classes:

labels, probabilities = decide.top_k(clf, X_test[:3], 2)
print(labels, probabilities.round(2), sep="\n")

# %%
# A map of the classes: those that are confused are near each other.

plot_class_map(clf, X_test, y_test)
plt.show()

# %%
# Precision and recall of every class; the worst are named.

ClassTable.from_estimator(clf, X_test, y_test).plot(kind="scatter")
plt.show()
