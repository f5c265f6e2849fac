"""
The map of a boosting game
==========================

Mukherjee and Schapire describe boosting as a game against the weak learner. How well the best strategy does is told by
potentials, and the strategy by a map: for every state of the votes, among how many classes the adversary should spread
its own.
"""

# %%
# Three classes, the zero-one loss: the adversary's best move in every state of the votes, with few and with more rounds
# to go.

import matplotlib.pyplot as plt

from simplexboost import theory
from simplexboost.theory.game_plots import plot_degrees, plot_walks

_, panels = plt.subplots(1, 2, figsize=(8, 4.6), layout="constrained")
for T, ax in zip((6, 15), panels, strict=True):
    plot_degrees(T, ax=ax)
plt.show()

# %%
# With an edge over guessing, the votes of a row are a random walk, and the potential is the chance that it ends badly.

baseline = theory.uniform_baseline(3, edge=0.2)
walks = theory.simulate_walks(40, baseline, n_walks=80, random_state=0)
plot_walks(walks, theory.potential(40, baseline))
plt.show()

# %%
# How many rounds are needed until the guaranteed error is below 5 %? Small edges need many.

_, ax = plt.subplots(figsize=(6, 4), layout="constrained")
rounds = range(1, 121)
for edge, style in ((0.1, ":"), (0.2, "--"), (0.3, "-")):
    bounds = [theory.potential(t, "uniform", 3, edge) for t in rounds]
    ax.plot(rounds, bounds, style, label=f"edge {edge}")
ax.axhline(0.05, color="0.5", linewidth=0.8)
ax.set(xlabel="rounds", ylabel="bound on the training error", ylim=(0, 1))
ax.legend()
plt.show()
