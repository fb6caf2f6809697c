"""The native part of tare. Import tare instead."""



class Tensor:
    """
    A tensor: dtype, shape and a share of a buffer, which it keeps alive.

    What calls return. Read it by numpy() (shares the bytes), tolist(), the buffer protocol or
    DLPack. Strings are bytes. Immutable; outlives the model it came from.
    """

    @property
    def shape(self) -> tuple:
        """The dimensions, a tuple of int."""

    @property
    def dtype(self) -> object:
        """A tare.DType."""

    @property
    def ndim(self) -> int: ...

    @property
    def size(self) -> int: ...

    @property
    def nbytes(self) -> int: ...

    def tolist(self) -> object:
        """Python numbers (or bytes) in nested lists; needs no NumPy."""

    def numpy(self) -> object:
        """
        A NumPy array over the same bytes; a NumPy scalar, or bytes, for a tensor without dimensions.

        The array is read-only where the bytes are shared. Strings give an object array of bytes; bfloat16
        needs ml_dtypes, and without it gives the bits as uint16. TypeError for a resource or variant.
        """

    def __array__(self, dtype: object | None = None, copy: object | None = None) -> object: ...

    def __dlpack__(self, **kwargs) -> object: ...

    def __dlpack_device__(self) -> tuple: ...

    def __len__(self) -> int: ...

    def __getitem__(self, arg: object, /) -> object: ...

    def __iter__(self) -> object: ...

    def item(self) -> object:
        """
        The only element, as a Python number or bytes. ValueError if there are more.
        """

    def __float__(self) -> object: ...

    def __int__(self) -> object: ...

    def __bool__(self) -> bool: ...

    def __repr__(self) -> str: ...

def tensor(value: object, dtype: object | None = None) -> Tensor: ...

class Receipt:
    """
    What unloading gave back: bytes ever charged, and bytes still held, by kind.
    """

    @property
    def model(self) -> str:
        """The path it was loaded from."""

    @property
    def peak(self) -> int:
        """The most bytes that were charged at once."""

    @property
    def charged(self) -> dict:
        """By kind, all ever charged."""

    @property
    def held(self) -> dict:
        """By kind, what is charged still: outputs the caller keeps."""

    @property
    def total_charged(self) -> int: ...

    @property
    def total_held(self) -> int: ...

    def dict(self) -> dict:
        """The same as a dict, for JSON."""

    def __str__(self) -> str: ...

    def __repr__(self) -> str: ...

class Signature:
    """
    A signature, called with its inputs by keyword: s(text=["rain"]).

    Python numbers and strings become the input's dtype; arrays must have it. Returns a dict
    of tare.Tensor. TypeError names an input that does not fit; tare.errors tell the rest.
    """

    def __call__(self, *args, **kwargs) -> object: ...

    @property
    def name(self) -> str: ...

    @property
    def inputs(self) -> dict:
        """Name to tare.TensorSpec."""

    @property
    def outputs(self) -> dict:
        """Name to tare.TensorSpec."""

    @property
    def structured_outputs(self) -> dict: ...

    @property
    def structured_input_signature(self) -> tuple: ...

    def __repr__(self) -> str: ...

class Concrete:
    def __call__(self, arg0: list, arg1: list, /) -> list: ...

class Objects:
    def node(self, arg: int, /) -> tuple: ...

    def concrete(self, arg: str, /) -> Concrete: ...

    @property
    def path(self) -> str: ...

class Model:
    """
    A loaded model. Unloads by unload(), at the end of a with block, or with its last reference.
    """

    @property
    def path(self) -> str: ...

    @property
    def signatures(self) -> object:
        """Name to tare.Signature."""

    @property
    def loaded(self) -> bool: ...

    @property
    def variables(self) -> list:
        """Those that signatures capture: name, dtype, shape and numpy(), a copy."""

    def memory(self) -> dict:
        """Bytes by kind, now."""

    def unload(self, cancel: bool = False) -> Receipt:
        """
        Waits for running calls (or cancels them), gives everything back and returns the receipt.

        Calls that come later raise FailedPreconditionError. A second call returns the same receipt.
        """

    def __getattr__(self, arg: str, /) -> object:
        """An object of the saved graph: a tf.function, or a holder of some."""

    def __call__(self, *args, **kwargs) -> object:
        """The saved object's __call__, where it has one."""

    def __enter__(self) -> object: ...

    def __exit__(self, *args) -> None: ...

    def __repr__(self) -> str: ...

def load(path: object, tags: object | None = None, *, files: str = 'map', loader: str = 'auto', verify_checksums: bool = True) -> Model:
    """
    Loads a SavedModel.

    path: its directory. tags: of the meta graph; None takes the only one, or 'serve'. files: 'map' reads
    weights in place, 'read' copies them, for files another program may truncate. loader: 'objects' (the TF2
    object graph), 'graph' (as a session), 'auto'. Raises NotFoundError, DataLossError,
    InvalidArgumentError or UnimplementedError of tare.errors, naming file and node.
    """

def memory_figures() -> list: ...

def meters() -> tuple: ...

def kernel_cache_stats() -> dict: ...

def kernel_cache_report() -> list: ...

def kernel_cache_policy() -> str: ...

def set_kernel_cache_policy(arg: str, /) -> None: ...

def kernel_cache_limit() -> tuple: ...

def set_kernel_cache_limit(arg0: int, arg1: int, /) -> None: ...

def clear_kernel_cache() -> None: ...

def op_names() -> list: ...

def describe_op(arg: str, /) -> object: ...

def execute(arg0: str, arg1: list, arg2: dict, /) -> object: ...

def set_memory_limit(bytes: int | None) -> None:
    """
    A budget in bytes for what all models and the context hold together; None for none.

    A load whose files would exceed it, a load or run that begins or ends above it, and one that asks for a
    block of 64 KiB or more that would exceed it raise ResourceExhaustedError with the figures; nothing is
    lost, and the next call may succeed once a model was unloaded or an output dropped.
    """

def memory_limit() -> int: ...

def set_threads(arg: int, /) -> None: ...

def threads() -> int: ...

def set_seed(arg: int, /) -> None: ...

def shut_down() -> None: ...
