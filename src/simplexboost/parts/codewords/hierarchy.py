"""Constructs codewords that are near for related classes: ordered classes, or the leaves of a class hierarchy."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Self

import numpy as np

from ..._util.arrays import AnyArray, Array, Mask
from ..._util.params import Part, check_number
from .base import RandomState, Simplex, SizedCodewords, check_classes

SMOOTHNESS = 1.5  # had the lowest log-loss of 1, 1.5 and 2 on most tables of the trial; see docs/structure.md
WAVES = 32  # the most by default: those beyond have a hundredth of the length of the first


class Ordered(SizedCodewords, name="ordered"):
    """A code for ordered classes: column j is a cosine wave of j half-periods over the classes, slow waves first.

    The classes are ordered from the lowest to the highest, as in ``classes_``. Slow waves have larger amplitudes than
    fast ones, so that neighbouring classes are near and the two ends are far apart. With ``smoothness=1`` and all K − 1
    columns, the squared distance of codewords k and l is ``4 |k − l| / (K − 1)``. The codewords sum to zero. There are
    at most K − 1 columns, and min(K − 1, 32) by default.

    Parameters
    ----------
    smoothness : float, default=1.5
        The amplitude of wave j is about proportional to 1 / j to this power.

    Examples
    --------
    >>> Ordered(2).matrix(4).round(2)
    array([[-1.08,  0.33],
           [-0.45, -0.33],
           [ 0.45, -0.33],
           [ 1.08,  0.33]])
    >>> Y = Ordered(smoothness=1.0).matrix(4)
    >>> [round(float(((Y[0] - Y[k]) ** 2).sum()), 3) for k in range(4)]
    [0.0, 1.333, 2.667, 4.0]
    """

    smoothness: float = SMOOTHNESS

    def check(self) -> None:
        super().check()
        check_number("smoothness", self.smoothness, float, 0.0, 10.0)

    def matrix(self, K: int, rng: RandomState = 0) -> Array:
        K = check_classes(K)
        d = self.columns(K)
        angle = np.pi * np.arange(1, K) / K  # (K-1,)
        waves = np.cos((K - 0.5 - np.arange(K)[:, None]) * angle[:d])  # (K, d), each of squared length K/2
        length = np.sin(angle / 2) ** -self.smoothness  # smoothness 1: root of the eigenvalues of −|k − l|, centred
        squared = 2 * (K + 1) / (3 * K)  # the mean squared length of all codewords, so that smoothness 1 has distance 4
        length *= np.sqrt(2 * squared / np.sum(length**2))
        return waves * length[:d]

    def columns(self, K: int) -> int:
        return min(WAVES if self.code_dim is None else int(self.code_dim), K - 1)


class Ordinal(Part):
    """The order of classes such as grades or stars, to be passed as the parameter ``classes`` of a classifier.

    Parameters
    ----------
    labels : sequence of labels or None, default=None
        All class labels from the lowest to the highest; classes without training rows get probability zero. With None,
        the order is that of an ordered categorical y, or the natural one of numbers, dates and the like.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> iris = load_iris()
    >>> y = iris.target_names[iris.target]
    >>> order = sb.Ordinal(["setosa", "versicolor", "virginica"])
    >>> clf = sb.SimplexBoostClassifier(classes=order, n_estimators=20, random_state=0).fit(iris.data, y)
    >>> clf.class_order_.tolist()
    ['setosa', 'versicolor', 'virginica']
    """

    labels: Any = None

    def check(self) -> None:
        """Raise unless ``labels`` is None or a sequence of at least two distinct labels."""
        if self.labels is None:
            return
        wanted = "a sequence of the labels from the lowest to the highest, or None"
        is_array = hasattr(self.labels, "__array__") and np.ndim(self.labels)
        if not isinstance(self.labels, list | tuple) and not is_array:
            raise TypeError(f"labels={self.labels!r} of Ordinal must be {wanted}.")
        try:
            labels = np.asarray(self.labels)
            different = len(np.unique(labels)) if labels.ndim == 1 else 0
        except (TypeError, ValueError) as error:  # of several types, or rows of different lengths
            raise TypeError(f"labels={self.labels!r} of Ordinal must be {wanted}: {error}") from error
        if different < max(2, len(labels)):
            raise ValueError(
                f"labels={self.labels!r} of Ordinal must be {wanted}; at least two, all of them different."
            )


FORMS = "a dict of nodes, each with a dict of nodes, a list of labels, or None if it is a label itself"
DEEPEST = 100  # the most levels; trees are walked by functions that call themselves


class Hierarchy(Part):
    """A class hierarchy: a tree whose leaves are the class labels.

    Parameters
    ----------
    tree : dict
        A dict from the names of the nodes below the root to what is below each: another such dict, a list of labels, or
        None if the name itself is a label. All names of nodes and labels must be distinct.

    Examples
    --------
    >>> tree = Hierarchy({"animal": {"bird": ["owl", "wren"], "fish": ["eel"]}, "stone": None})
    >>> tree.leaves
    ['owl', 'wren', 'eel', 'stone']
    >>> tree.n_levels, tree.nodes(1), tree.nodes(2)
    (3, ['animal', 'stone'], ['bird', 'fish', 'stone'])
    >>> tree.ancestors("owl")
    ['animal', 'bird', 'owl']
    >>> tree.distances(["owl", "wren", "eel"])
    array([[0., 2., 4.],
           [2., 0., 4.],
           [4., 4., 0.]])
    """

    tree: Any

    @classmethod
    def from_paths(cls, paths: Any, separator: str = "/") -> Self:
        """Make a hierarchy from paths such as "animal/bird/owl", with the separator between the names.

        If ``paths`` is a list, the labels are the paths themselves; a dict maps every label to its path. The name of an
        inner node is the path from the root to it, so that several nodes may end in the same word.

        Examples
        --------
        >>> Hierarchy.from_paths(["bird/owl", "bird/wren", "fish/eel"]).nodes(1)
        ['bird', 'fish']
        >>> Hierarchy.from_paths({7: "b0 f1", 8: "b0 f2", 9: "b1 f1"}, separator=" ").leaves
        [7, 8, 9]
        """
        if not isinstance(separator, str) or not separator:
            raise ValueError(f"separator={separator!r} must be text that stands between the names of a path.")
        if isinstance(paths, str) or not isinstance(paths, Iterable):
            raise TypeError(
                f"paths={paths!r:.200} must be a list of paths, or a dict that gives the path of every label."
            )
        pairs = paths.items() if isinstance(paths, Mapping) else [(path, path) for path in paths]
        seen: set[Any] = set()
        tree: dict[Any, Any] = {}
        for label, path in pairs:
            if not isinstance(path, str):
                raise TypeError(f"paths holds {path!r}; a path is text such as 'animal{separator}bird'.")
            if label in seen:
                raise ValueError(f"paths holds {label!r} twice; every label has one place in the tree.")
            seen.add(label)
            at, names = tree, path.split(separator)
            for depth in range(1, len(names)):
                at = at.setdefault(separator.join(names[:depth]), {})
                if at is None:
                    raise ValueError(f"paths makes {separator.join(names[:depth])!r} a label and a node with others.")
            if at.get(label, False) is not False:
                raise ValueError(f"paths makes {label!r} a label and a node with others.")
            at[label] = None
        return cls(tree)

    @classmethod
    def from_parents(cls, parents: Mapping[Any, Any]) -> Self:
        """Make a hierarchy from a dict that maps labels and inner nodes to parents; nodes without children are labels.

        Nodes without an entry, or with the parent None, are right below the root.

        Examples
        --------
        >>> Hierarchy.from_parents({"owl": "bird", "wren": "bird", "bird": "animal", "stone": None}).tree
        {'animal': {'bird': {'owl': None, 'wren': None}}, 'stone': None}
        """
        if not isinstance(parents, Mapping):
            raise TypeError(f"parents={parents!r} must be a dict that gives the parent of every label.")
        tops = find_tops(parents)
        below: dict[Any, list[Any]] = {}
        for node, parent in parents.items():
            below.setdefault(parent, []).append(node)

        def tree_of(node: Any) -> Any:
            return {child: tree_of(child) for child in below[node]} if node in below else None

        return cls({top: tree_of(top) for top in tops})

    def check(self) -> None:
        """Raise unless ``tree`` is a valid tree with at least two leaves and distinct names."""
        check_tree(self.tree)

    @property
    def _paths(self) -> dict[Any, list[Any]]:
        """A dict from every label to its path, a list of the nodes from below the root down to the label itself."""
        return check_tree(self.tree)

    @property
    def leaves(self) -> list[Any]:
        """The class labels, in the order of the tree."""
        return list(self._paths)

    @property
    def n_levels(self) -> int:
        """The number of levels below the root, which is the length of the longest path."""
        return max(map(len, self._paths.values()))

    def ancestors(self, node: Any) -> list[Any]:
        """Return the path to a label or inner node: all nodes from below the root down to the node itself."""
        for path in self._paths.values():
            if node in path:
                return path[: path.index(node) + 1]
        raise ValueError(f"{node!r} is neither a label nor a node of the hierarchy.")

    def nodes(self, level: int, classes: Any = None) -> list[Any]:
        """Return the nodes of a level in the order of the tree: all, or only the ancestors of the given classes.

        Level 1 is right below the root, level ``n_levels`` the deepest. A label is also a node of all levels below it.
        """
        paths = self._paths
        check_number("level", level, int, 1, max(map(len, paths.values())))
        known = paths if classes is None else {path[-1] for path in self._paths_of(classes)}
        return list(dict.fromkeys(path[min(level, len(path)) - 1] for label, path in paths.items() if label in known))

    def members(self, level: int, classes: Any) -> Mask:
        """Return a mask (K, m): entry (k, j) tells whether class k is below the j-th of the m `nodes` of a level."""
        place = {name: j for j, name in enumerate(self.nodes(level, classes))}
        own = np.array([place[path[min(level, len(path)) - 1]] for path in self._paths_of(classes)])
        return own[:, None] == np.arange(len(place))

    def distances(self, classes: Any) -> Array:
        """Return the number of tree edges between every two of K classes, (K, K): 2 for children of the same node.

        If this matrix is passed as ``costs``, `predict` returns the class with the smallest expected distance.
        """
        paths = self._paths_of(classes)
        depth = np.array([len(path) for path in paths])
        shared = np.zeros((len(paths), len(paths)))
        for level in range(1, depth.max(initial=1) + 1):
            at: dict[Any, int] = {}  # the number of every node of this depth
            own = np.array([at.setdefault(path[level - 1], len(at)) if len(path) >= level else -1 for path in paths])
            shared += (own[:, None] == own) & (own >= 0)[:, None]
        return depth[:, None] + depth - 2.0 * shared

    def codewords(self, classes: Any) -> Array:
        """Return a coding matrix (K, K − 1) of K >= 2 classes in which classes near in the tree have near codewords.

        A simplex is used for the children of every inner node. The mean squared length of the codewords is one.
        """
        paths = self._paths_of(classes)
        K = check_classes(len(paths))
        Y, column = np.zeros((K, K - 1)), 0
        for depth in range(max(map(len, paths))):
            inner: dict[tuple[Any, ...], list[int]] = {}  # the classes below every inner node of this depth
            for k, path in enumerate(paths):
                if len(path) > depth:
                    inner.setdefault(tuple(path[:depth]), []).append(k)
            for rows in inner.values():
                below = list(dict.fromkeys(paths[k][depth] for k in rows))
                m = len(below)
                if m < 2:
                    continue
                words = Simplex().matrix(m) * np.sqrt((m - 1) / m)  # squared distance 2, as of two edges
                for k in rows:
                    Y[k, column : column + m - 1] = words[below.index(paths[k][depth])]
                column += m - 1
        return Y / np.sqrt((Y**2).sum(axis=1).mean())

    def _paths_of(self, classes: Any) -> list[list[Any]]:
        """Return for each class label the nodes from below the root to the label; raise if a label is no leaf."""
        paths, found = self._paths, np.asarray(classes)
        if found.ndim != 1 or not len(found):
            raise ValueError(f"classes has shape {found.shape}; pass a list of labels, at least one.")
        labels = found.tolist()
        missing = [label for label in labels if label not in paths]
        if missing:
            raise ValueError(f"hierarchy has no leaf for the classes {missing[:5]}; it needs one for every class.")
        return [paths[label] for label in labels]


def check_tree(tree: Any) -> dict[Any, list[Any]]:
    """Return a dict from leaf to path; raise unless there are at least two leaves and all names are distinct."""
    if not isinstance(tree, Mapping):
        raise TypeError(f"tree={tree!r:.200} of a hierarchy must be {FORMS}.")
    paths = list(walk_paths(tree))
    if len(paths) < 2:
        raise ValueError(f"tree={tree!r:.200} has {len(paths)} leaves; a hierarchy needs at least two.")
    parents: dict[Any, Any] = {}
    leaves: dict[Any, list[Any]] = {}
    for path in paths:
        for parent, node in zip([None, *path], path, strict=False):
            if node is None or (isinstance(node, float) and node != node):
                raise ValueError(f"the hierarchy has a node called {node!r}; names are labels and text.")
            if parents.setdefault(node, parent) != parent or (node is path[-1] and node in leaves):
                where = " and ".join(f"below {place!r}" for place in (parents[node], parent) if place is not None)
                raise ValueError(f"the hierarchy has {node!r} twice, {where or 'below the root'}; names must differ.")
        leaves[path[-1]] = path
    both = [label for label in leaves if label in set(parents.values())]
    if both:
        raise ValueError(f"the hierarchy has {both[0]!r} as a label and as a node with others; names must differ.")
    return leaves


def walk_paths(
    tree: Any, name: Any = "the root", above: tuple[Any, ...] = (), outer: tuple[int, ...] = ()
) -> Iterator[list[Any]]:
    """Yield the path to every leaf, a list of names; raise if a node is invalid. Other arguments are for recursion."""
    if id(tree) in outer:
        raise ValueError(f"the hierarchy contains itself: {name!r} is below itself.")
    if not isinstance(tree, Mapping | list | tuple | np.ndarray):
        raise TypeError(f"the node {name!r} of the hierarchy leads to {tree!r:.200}; accepted is {FORMS}.")
    check_depth(len(outer) + 1)
    if not len(tree):
        raise ValueError(f"the node {name!r} of the hierarchy has nothing below it; a label leads to None.")
    if isinstance(tree, Mapping):
        for child, below in tree.items():
            path = (*above, child)
            yield from [[*path]] if below is None else walk_paths(below, child, path, (*outer, id(tree)))
        return
    for label in tree.tolist() if isinstance(tree, np.ndarray) else tree:
        try:
            hash(label)
        except TypeError as error:
            raise TypeError(f"the node {name!r} of the hierarchy has the label {label!r:.200}: {error}.") from error
        yield [*above, label]


def find_tops(parents: Mapping[Any, Any]) -> list[Any]:
    """Return the nodes right below the root, given each node's parent; raise if there is a cycle or too many levels."""
    tops: dict[Any, None] = {}
    for start in parents:
        way = [start]
        while parents.get(way[-1]) is not None:
            node = parents[way[-1]]
            if node in way:
                circle = " → ".join(repr(name) for name in [*way[way.index(node) :], node])
                raise ValueError(f"parents lead in a circle, {circle}; a hierarchy has none.")
            way.append(node)
            check_depth(len(way))
        tops[way[-1]] = None
    return list(tops)


def check_depth(n_levels: int) -> None:
    """Raise if a hierarchy has more than `DEEPEST` levels."""
    if n_levels > DEEPEST:
        raise ValueError(f"the hierarchy has more than {DEEPEST} levels; that is the most.")


def names_array(names: Iterable[Any]) -> AnyArray:
    """Return names as a NumPy array: of text or numbers if all have the same type, else of objects."""
    listed = list(names)
    kinds = {str if isinstance(name, str) else type(name) for name in listed}
    if len(kinds) == 1 and not isinstance(listed[0], tuple):
        return np.array(listed)
    out = np.empty(len(listed), dtype=object)
    out[:] = listed
    return out
