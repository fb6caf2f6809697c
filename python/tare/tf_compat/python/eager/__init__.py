from . import context
