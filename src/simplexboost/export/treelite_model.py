"""Exports models to treelite, as trees with a vector of class scores in every leaf.

treelite has neither codewords Y nor sparse leaves, so every leaf stores its share of all K scores U = ½ F Yᵀ.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .._util.arrays import AnyArray, Array
from .._util.compat import import_optional
from .._util.docstrings import described
from .._util.runtime import check_memory
from ..engine import Tree
from ..persist.atomic_write import write_bytes
from .plain_model import PlainModel, as_plain_model, check_dtype, refuse_merged, round_down

NEVER = -1e30  # the score of a class without training examples: its probability is 0
REFUSED = {
    "savage": "those of Savage's loss",
    "one-vs-all": "those of the one-vs-all loss",
    "shares": "shares of votes",
    "walk": "those under a cost_matrix",
}


@described
def treelite(clf: Any, path: Any = None, *, dtype: Any = "float64", probabilities: bool = True) -> Any:
    """Export a fitted booster of trees to treelite; needs the package treelite (``pip install treelite``).

    The treelite model predicts probabilities (n, 1, K), or scores if ``probabilities`` is False, with the classes in
    the order of ``classes_``. Its input is X as `export.numbers` returns it. Every leaf of a treelite model stores K
    values, so a model for many classes takes much more memory than in this package.

    Parameters
    ----------
    path : str, Path, binary file or None, default=None
        The path or the open binary file to write to; None writes no file.
    dtype : {"float64", "float32"}, default="float64"
        The precision of thresholds, leaves and input.
    probabilities : bool, default=True
        Whether the model predicts probabilities. treelite can compute the softmax, and the logistic function for rows
        with several labels. If the loss needs another function, this must be False.

    Returns
    -------
    treelite.Model
        The exported model.

    Examples
    --------
    >>> import treelite
    >>> P = treelite.gtil.predict(sb.export.treelite(clf), X)[:, 0]
    >>> float(abs(P - clf.predict_proba(X)).max()) < 1e-5
    True
    """
    model, precision = as_plain_model(clf), check_dtype(dtype)
    refuse_merged(model, "treelite")
    if model.lines:
        raise ValueError(
            "treelite holds trees only, and this model has lines; export it as ONNX, C, Python or JavaScript."
        )
    K, leaves = len(model.classes), sum(tree.tree.n_leaves for tree in model.trees)
    what = f"a treelite model of {leaves} leaves, each with the values of all {K} classes,"
    check_memory(24.0 * K * leaves + 16.0 * model.d * K, what, "Export it as ONNX, C, Python or JavaScript.")
    package = import_optional("treelite", "this export needs")
    to_scores, base, postprocessor = output_of(model, probabilities)
    parts, n_trees = package.model_builder, len(model.trees)
    builder = parts.ModelBuilder(
        threshold_type=str(precision),
        leaf_output_type=str(precision),
        metadata=parts.Metadata(
            num_feature=model.columns.n,
            task_type="kMultiClf",
            average_tree_output=False,
            num_target=1,
            num_class=[K],
            leaf_vector_shape=(1, K),
        ),
        tree_annotation=parts.TreeAnnotation(num_tree=n_trees, target_id=[0] * n_trees, class_id=[-1] * n_trees),
        postprocessor=parts.PostProcessorFunc(**postprocessor),
        base_scores=base.tolist(),
    )
    for tree in model.trees:
        add_tree(builder, tree.tree, tree.values @ to_scores, model, precision)
    made = builder.commit()
    if path is not None:
        write_bytes(path, made.serialize_bytes())
    return made


def output_of(model: PlainModel, probabilities: bool) -> tuple[Array, Array, dict[str, Any]]:
    """Return the matrix (d, K) that maps F to class scores, their offsets (K,), and treelite's postprocessor."""
    K = len(model.classes)
    to_scores = np.zeros((model.d, K))
    to_scores[:, model.present] = 0.5 * model.code.Y.T.astype(np.float64)
    base = np.where(model.present, 0.0, NEVER)
    if not probabilities:
        return to_scores, base, {"name": "identity_multiclass"}
    if model.link.kind in REFUSED:
        raise ValueError(
            f"treelite has no function for these probabilities, {REFUSED[model.link.kind]}; "
            "probabilities=False exports the scores."
        )
    if model.link.kind == "sigmoid":
        assert model.threshold is not None
        above = np.eye(K) - np.outer(model.threshold[:-1], np.ones(K))
        sigmoid = {"name": "multiclass_ova", "sigmoid_alpha": model.link.scale}
        return to_scores @ above, base - model.threshold[-1], sigmoid
    return model.link.scale * to_scores, base, {"name": "softmax"}


def add_tree(builder: Any, tree: Tree, values: AnyArray, model: PlainModel, precision: Any) -> None:
    """Add a tree with leaf values (L, K) to treelite's model builder; thresholds get this precision."""
    nodes = tree.nodes
    thresholds = round_down(nodes["threshold"]) if precision == np.float32 else nodes["threshold"]
    builder.start_tree()
    for at, node in enumerate(nodes):
        left, missing_left = int(node["left"]), bool(node["missing_left"])
        split = {"feature_id": int(node["feature"]), "default_left": missing_left}
        split |= {"left_child_key": left, "right_child_key": left + 1}
        builder.start_node(at)
        if node["feature"] < 0:
            builder.leaf(values[left].tolist())
        elif node["category"] >= 0:
            goes_left, _ = model.columns.sides(tree, at)
            builder.categorical_test(category_list=goes_left, category_list_right_child=False, **split)
        else:
            builder.numerical_test(threshold=float(thresholds[at]), opname="<=", **split)
        builder.end_node()
    builder.end_tree()
