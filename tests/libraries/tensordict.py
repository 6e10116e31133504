from tests.support import missing

try:
    from tensordict import TensorDict, tensorclass
except ModuleNotFoundError as error:
    missing(error)

__all__ = ["TensorDict", "tensorclass"]
