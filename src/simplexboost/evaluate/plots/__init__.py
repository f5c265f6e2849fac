"""Plots of models and of their predictions, with matplotlib (``pip install matplotlib``).

- A plot of a **model** is a function whose name begins with ``plot_``. It draws on ``ax``, or on a new figure where
  that is None, and returns the axes. The few plots of several panels take and return a list, ``axes``.
- A plot of **predictions**, which may come from any classifier, is a class whose name ends in ``Display``, as in
  scikit-learn: `from_estimator` predicts and draws, `from_predictions` draws what was predicted elsewhere, and ``plot``
  draws the same numbers once more. The axes are its attribute ``ax_``.

Nothing is shown or saved: that is ``matplotlib.pyplot.show()`` or ``ax.figure.savefig("picture.png")``. Make figures of
your own with ``layout="constrained"``, since legends stand beside the axes. The numbers come from
`simplexboost.evaluate`; the figures of Mukherjee and Schapire (2013) are in `simplexboost.theory.game_plots`.
"""

from .codeword_plots import animate_predictor, plot_codewords, plot_loss_contours, plot_predictor, plot_predictor_panels
from .confusion_plots import ClassScoresDisplay, ConfusionDisplay
from .explanation_plots import plot_importance, plot_shap_panels, plot_shap_summary, plot_tree
from .learning_plots import plot_candidates, plot_learning_curves, plot_margins, plot_race
from .map_plots import DecisionRegionsDisplay, plot_class_map
from .probability_plots import ReliabilityDisplay, RiskCurveDisplay

__all__ = [
    "ClassScoresDisplay",
    "ConfusionDisplay",
    "DecisionRegionsDisplay",
    "ReliabilityDisplay",
    "RiskCurveDisplay",
    "animate_predictor",
    "plot_candidates",
    "plot_class_map",
    "plot_codewords",
    "plot_importance",
    "plot_learning_curves",
    "plot_loss_contours",
    "plot_margins",
    "plot_predictor",
    "plot_predictor_panels",
    "plot_race",
    "plot_shap_panels",
    "plot_shap_summary",
    "plot_tree",
]
