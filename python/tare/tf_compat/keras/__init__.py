"""tf.keras: only what serving loops call."""
from . import backend
