"""
Probabilities that can be believed
==================================

Of the rows that get a probability of 0.8, eight out of ten should be right. Many rounds make a booster too sure of
itself; the flagship therefore chooses a temperature on rows held out.
"""

# %%
# Three overlapping classes, many rounds: without the temperature, the probabilities are too extreme.

import matplotlib.pyplot as plt
from sklearn.metrics import log_loss

from simplexboost import SimplexBoostClassifier, datasets
from simplexboost.evaluate import Reliability

three = datasets.make_three_gaussians(random_state=0)
X, y = three.X_train[:600], three.y_train[:600]
_, ax = plt.subplots(figsize=(6, 5), layout="constrained")
for calibration, name in ((False, "without temperature"), (True, "with temperature")):
    clf = SimplexBoostClassifier(n_estimators=150, calibration=calibration, random_state=0).fit(X, y)
    P = clf.predict_proba(three.X_test)
    name = f"{name}, log-loss {log_loss(three.y_test, P):.3f}"
    Reliability.from_predictions(three.y_test, P, bins=10).plot(name=name, ax=ax)
plt.show()
