"""tensorflow.python.eager.context: context.context()._handle and what clears caches."""
from ...._tare import clear_kernel_cache, set_seed


class Context:
    """The one context. `_handle` is what TFE_ContextClearCaches takes."""

    _handle = object()
    _context_handle = _handle

    def clear_kernel_cache(self):
        clear_kernel_cache()

    def ensure_initialized(self):
        pass

    def executing_eagerly(self):
        return True

    def _set_global_seed(self, seed):
        set_seed(seed)


_context = Context()


def context():
    return _context


def _clear_caches():
    clear_kernel_cache()


def _reset_context():
    clear_kernel_cache()
