"""Fitting on a Dask cluster: the same model, bit for bit, as on one machine.

`classifiers` is what users see; `collections` finds the partitions of Dask collections; `fitting` brings both together.
`transport` carries messages of a `simplexboost.group` between the client and `actors` on the workers, which `placement`
puts there.
"""

from .._packages import how_to_install

try:
    import dask.dataframe  # noqa: F401
    import distributed  # noqa: F401
except ImportError as error:
    raise ImportError(f"simplexboost.dask needs Dask: {how_to_install('dask', 'distributed')}.") from error

from .classifiers import DaskBoostingClassifier, DaskSimplexBoostClassifier

__all__ = ["DaskBoostingClassifier", "DaskSimplexBoostClassifier"]
