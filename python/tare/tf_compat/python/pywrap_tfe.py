"""tensorflow.python.pywrap_tfe: the call by which programs empty the kernel cache."""
from ..._tare import clear_kernel_cache, set_seed


def TFE_ContextClearCaches(handle):
    """Empties the kernel cache, as the call of this name does in TensorFlow."""
    clear_kernel_cache()


def TFE_Py_ClearScalarCache():
    """Does nothing: Tare keeps no scalars."""
