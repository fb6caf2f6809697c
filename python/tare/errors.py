"""What calls raise. Each class stands for one code of TensorFlow's (and gRPC's) and is also the built-in
class that a Python programmer would expect."""


class OpError(Exception):
    """An error of Tare's: str(e) names the file, node, op or input. `code` is TensorFlow's number."""

    code = 2

    @property
    def message(self):
        return str(self)


class CancelledError(OpError):
    code = 1


class UnknownError(OpError):
    code = 2


class InvalidArgumentError(OpError, ValueError):
    code = 3


class DeadlineExceededError(OpError, TimeoutError):
    code = 4


class NotFoundError(OpError, OSError):
    code = 5


class AlreadyExistsError(OpError):
    code = 6


class PermissionDeniedError(OpError, OSError):
    code = 7


class ResourceExhaustedError(OpError, MemoryError):
    code = 8


class FailedPreconditionError(OpError, RuntimeError):
    code = 9


class AbortedError(OpError):
    code = 10


class OutOfRangeError(OpError, IndexError):
    code = 11


class UnimplementedError(OpError, NotImplementedError):
    code = 12


class InternalError(OpError):
    code = 13


class UnavailableError(OpError):
    code = 14


class DataLossError(OpError, OSError):
    code = 15


class UnauthenticatedError(OpError):
    code = 16


_BY_CODE = {c.code: c for c in OpError.__subclasses__()}


def of_code(code):
    return _BY_CODE.get(code, UnknownError)
