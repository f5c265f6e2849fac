"""
Codewords: a vector for every class
===================================

A booster of this library learns a function f with values in a space of few or many dimensions, and every class has a
codeword in that space. The class whose codeword points furthest in the direction of f(x) is predicted.
"""

# %%
# Three classes need two dimensions: the corners of a regular triangle are as far apart as three directions can be.
# Eight classes would need seven, but codewords can be packed into fewer dimensions, at the price of smaller angles.

import matplotlib.pyplot as plt

from simplexboost.evaluate import plot_codewords
from simplexboost.parts import codewords

figure = plt.figure(figsize=(9, 4.5), layout="constrained")
plot_codewords("simplex", 3, ax=figure.add_subplot(1, 2, 1)).set_title("simplex, 3 classes")
plot_codewords(codewords.MaxMin(code_dim=3), 8, ax=figure.add_subplot(1, 2, 2, projection="3d")).set_title(
    "max-min, 8 classes in 3 dimensions"
)
plt.show()

# %%
# The *margin capacity* says how large a margin a predictor of length one can give to every class. The simplex reaches
# the bound; a max-min code pays for every dimension that it saves.

dimensions = range(2, 12)
capacities = [codewords.margin_capacity(codewords.MaxMin(d).matrix(12)) for d in dimensions]
_, ax = plt.subplots(figsize=(6, 4), layout="constrained")
ax.plot(dimensions, capacities, "o-", label="max-min code")
ax.axhline(codewords.capacity_bound(12), color="0.3", linestyle="--", label="bound, reached by the simplex")
ax.set(xlabel="dimensions", ylabel="margin capacity", title="12 classes", ylim=(0, None))
ax.legend()
plt.show()
