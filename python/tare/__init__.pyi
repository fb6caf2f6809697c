from typing import Any, Callable, Union
import os

from . import dtypes as dtypes, errors as errors, heap as heap, ops as ops, saved_model as saved_model, tf_compat as tf_compat
from ._tare import (Model as Model, Receipt as Receipt, Signature as Signature, Tensor as Tensor, load as load,
                    set_memory_limit as set_memory_limit, set_seed as set_seed, set_threads as set_threads, tensor as tensor)
from .dtypes import DType as DType, TensorSpec as TensorSpec
from .errors import OpError as OpError
from .flat import SoakResult, assert_flat as assert_flat, soak as soak
from .report import KernelCache, Memory, kernel_cache as kernel_cache, memory as memory

__version__: str
