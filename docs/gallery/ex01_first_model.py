"""
A first model
=============

The digits of scikit-learn are 1797 images of 8 × 8 pixels, in ten classes. A classifier needs no settings: the number
of rounds, the shape of the trees and the temperature of the probabilities are chosen on rows held out. Here the number
of rounds is given, so that the script takes a second.
"""

# %%
# Fit the model and follow the log-loss of the test rows. The training risk goes on falling when the test risk no longer
# does; the marked round is the best one.

import matplotlib.pyplot as plt

from simplexboost import SimplexBoostClassifier, datasets
from simplexboost.evaluate import Confusion, plot_learning_curves

digits = datasets.load("digits")
clf = SimplexBoostClassifier(n_estimators=150, random_state=0)
clf.fit(digits.X_train, digits.y_train, X_val=digits.X_test, y_val=digits.y_test)
plot_learning_curves(clf)
plt.show()

# %%
# Which digits are taken for which? A row of the matrix is a true class, and similar classes are neighbours.

print(f"accuracy {clf.score(digits.X_test, digits.y_test):.3f}, with {len(clf.model_.trees)} trees for ten classes")
Confusion.from_estimator(clf, digits.X_test, digits.y_test).plot()
plt.show()
