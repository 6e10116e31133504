from tests.support import missing

try:
    import array_api_strict as strict
except ModuleNotFoundError as error:
    missing(error)

__all__ = ["strict"]
