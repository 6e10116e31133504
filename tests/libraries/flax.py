from tests.support import missing

try:
    from flax.core import FrozenDict
except ModuleNotFoundError as error:
    missing(error)

__all__ = ["FrozenDict"]
