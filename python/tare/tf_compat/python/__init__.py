"""tensorflow.python: the modules that known workarounds of TensorFlow's leaks reach into."""
from . import eager, pywrap_tfe
