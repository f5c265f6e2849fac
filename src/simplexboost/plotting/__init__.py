"""Pictures of models and of what they do, with matplotlib (``pip install matplotlib``).

All pictures follow one design.

- A picture of a **model** is a function whose name begins with ``plot_``. It draws on ``ax``, or on a new figure where
  that is None, and returns the axes. The few pictures of several panels take and return a list, ``axes``.
- A picture of **predictions**, which may come from any classifier, is a class whose name ends in ``Display``, as in
  scikit-learn: `from_estimator` predicts and draws, `from_predictions` draws what was predicted elsewhere, and ``plot``
  draws the same numbers once more. The axes are its attribute ``ax_``.

Nothing is shown or saved: that is ``ax.figure.savefig("picture.png")`` or ``matplotlib.pyplot.show()``. The numbers
behind the pictures come from `simplexboost.inspection`. If you make the figure yourself, make it with
``layout="constrained"``, since legends stand beside the axes, where they hide nothing.

``games`` has the figures of Mukherjee and Schapire (2013).
"""

from . import games
from .class_map import plot_class_map
from .classes import ClassScoresDisplay
from .codewords import plot_codewords
from .confusion import ConfusionDisplay
from .importance import plot_importance
from .learning import plot_candidates, plot_learning_curves
from .losses import plot_loss_contours
from .margins import plot_margins
from .predictor import animate_predictor, plot_predictor, plot_predictor_panels
from .race import plot_race
from .regions import DecisionRegionsDisplay
from .reliability import ReliabilityDisplay
from .risks import RiskCurveDisplay
from .shap_values import plot_shap_panels, plot_shap_summary
from .trees import plot_tree

__all__ = [
    "ClassScoresDisplay",
    "ConfusionDisplay",
    "DecisionRegionsDisplay",
    "ReliabilityDisplay",
    "RiskCurveDisplay",
    "animate_predictor",
    "games",
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
