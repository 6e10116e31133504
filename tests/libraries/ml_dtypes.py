from tests.support import missing

try:
    import ml_dtypes
except ModuleNotFoundError as error:
    missing(error)

__all__ = ["ml_dtypes"]
