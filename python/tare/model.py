"""What a model is made of, beside its signatures."""


class Variable:
    """A variable as it was restored: name, dtype, shape; numpy() copies its value now."""

    __slots__ = ("name", "dtype", "shape", "_model", "_resource")

    def __init__(self, name, dtype, shape, model, resource):
        self.name, self.dtype, self.shape, self._model, self._resource = name, dtype, shape, model, resource

    def value(self):
        """A tare.Tensor, a copy. FailedPreconditionError once the model is unloaded."""
        return self._model._variable(self._resource)

    def numpy(self):
        return self.value().numpy()

    def __repr__(self):
        return f"<tare.Variable {self.name}: {self.dtype.name} {self.shape}>"
