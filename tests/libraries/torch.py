from tests.support import missing

try:
    import torch
except ModuleNotFoundError as error:
    missing(error)

__all__ = ["torch"]
