"""A fitted classifier and labelled rows → one HTML file in which a person understands the model in five minutes.

``evaluated`` predicts the rows once. ``headline``, ``learning``, ``classes``, ``confusions``, ``deciding``,
``features``, ``calibration``, ``doubts`` and ``card`` turn that into the numbers of one section each, ``words`` into
the sentences at the top, and ``contents`` puts them together as JSON. ``page`` puts the JSON into ``assets/page.html``,
beside the style sheet, the scripts and the library that draws charts, and ``writing`` writes the file. ``mixin`` has
the method ``report`` of all classifiers. The page is described in docs/report.md.
"""

from .mixin import Reports

__all__ = ["Reports"]
