"""tf.saved_model's names."""
from ._tare import Model
from ._tare import load as _load

SERVING = "serve"
DEFAULT_SERVING_SIGNATURE_DEF_KEY = "serving_default"


def load(export_dir, tags=None, options=None):
    """tare.load under the name and arguments of tf.saved_model.load; `options` is taken and ignored."""
    return _load(export_dir, tags)


def contains_saved_model(export_dir):
    import os
    return os.path.isfile(os.path.join(os.fspath(export_dir), "saved_model.pb"))
