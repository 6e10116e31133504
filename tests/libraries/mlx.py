from tests.support import missing

try:
    import mlx.core as mx
except ModuleNotFoundError as error:
    missing(error)

__all__ = ["mx"]
