"""Fitting on a Dask cluster: the same model, bit for bit, as on one machine."""

from ..._util.compat import install_command

try:
    import dask.dataframe  # noqa: F401
    import distributed  # noqa: F401
except ImportError as error:
    raise ImportError(f"simplexboost.distributed.dask needs Dask: {install_command('dask', 'distributed')}.") from error

from .dask_classifiers import DaskBoostingClassifier, DaskSimplexBoostClassifier

__all__ = ["DaskBoostingClassifier", "DaskSimplexBoostClassifier"]
