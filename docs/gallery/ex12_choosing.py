"""
Choosing a booster, and what the flagship chooses
=================================================

Which booster is the most accurate depends on the data and on the number of rounds. A picture of the test error round by
round shows it better than one number.
"""

# %%
# Four boosters on the digits, all with 60 rounds.

import matplotlib.pyplot as plt

import simplexboost as sb
from simplexboost.evaluate import plot_candidates

digits = sb.datasets.load("digits")
X, y = digits.X_train[:700], digits.y_train[:700]
boosters = {
    "GD-MCBoost, logistic": (sb.GDMCBoostClassifier("logistic", n_estimators=60), "-"),
    "AdaBoost.MH": (sb.AdaBoostMHClassifier(n_estimators=60), "--"),
    "SAMME": (sb.SAMMEClassifier(n_estimators=60), ":"),
    "SimplexBoost": (sb.SimplexBoostClassifier(n_estimators=60, learning_rate=0.2, random_state=0), "-."),
}
_, ax = plt.subplots(figsize=(6.5, 4), layout="constrained")
for name, (clf, style) in boosters.items():
    stages = clf.fit(X, y).staged_predict(digits.X_test)
    errors = [(predicted != digits.y_test).mean() for predicted in stages]
    ax.plot(range(1, len(errors) + 1), errors, style, label=name)
ax.set(xlabel="round", ylabel="test error", ylim=(0, 0.5))
ax.legend()
plt.show()

# %%
# Left to itself, the flagship tries several shapes of trees on rows held out. It keeps the best one, with its number of
# rounds and the best temperature.

clf = sb.SimplexBoostClassifier(learning_rate=0.3, random_state=0).fit(X, y)
plot_candidates(clf)
print(clf.choice_)
plt.show()
