"""
Predictors move outward
=======================

Boosting begins with f(x) = 0 for all rows. Every round adds a small vector to each, and the rows of a class move
outward along the codeword of their class (Saberian and Vasconcelos, Figure 4).
"""

# %%
# Three Gaussian classes in the plane overlap, so some rows must go the wrong way.

import matplotlib.pyplot as plt

from simplexboost import GDMCBoostClassifier, datasets
from simplexboost.evaluate import animate_predictor, plot_predictor

three = datasets.make_three_gaussians(random_state=0)
X, y = three.X_train[:600], three.y_train[:600]
clf = GDMCBoostClassifier("logistic", n_estimators=60, learning_rate=0.3).fit(X, y)
plot_predictor(clf, X, y, [2, 12, 60])
plt.show()

# %%
# The same as an animation, which plays in the browser.

animation = animate_predictor(clf, X, y, [0, 1, 2, 4, 8, 12, 18, 25, 35, 45, 60], interval=300)
plt.show()
