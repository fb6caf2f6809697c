"""The tf.functions of a saved object graph, called by the structures they were saved with."""
from .structure import flatten, pack, parse



class SavedObject:
    """An object of the saved graph: its attributes are objects and functions."""

    def __init__(self, objects, node, path):
        self._objects, self._node, self._path = objects, node, path
        self._children = objects.node(node)[0]

    def __getattr__(self, name):
        if name.startswith("__") or name not in self.__dict__.get("_children", ()):
            raise AttributeError(f"'{self.__dict__.get('_path') or 'the model'}' has no saved attribute '{name}'")
        value = self.__dict__[name] = _make(self._objects, self._children[name],
                                            f"{self._path}.{name}" if self._path else name)
        return value

    def __call__(self, *args, **kwargs):
        if "__call__" not in self._children:
            raise TypeError(f"'{self._path or 'the model'}' was saved without a __call__")
        call = self.__dict__.get("_call")
        if call is None:
            call = self.__dict__["_call"] = _make(self._objects, self._children["__call__"], self._path or "model")
        return call(*args, **kwargs)

    def __dir__(self):
        return sorted(set(super().__dir__()) | set(self._children))

    def __repr__(self):
        return f"<tare object {self._path or 'the model'}: {', '.join(sorted(self._children))}>"


class Function:
    """A tf.function as it was saved: its concrete functions, of which a call takes the first that fits.

    Tensors, arrays and Python values are positional or by keyword, nested as when it was traced. Returns the
    structure it was saved with, of tare.Tensor. TypeError when the arguments fit none, telling why for each.
    """

    def __init__(self, objects, spec, functions, path):
        self._objects, self._path = objects, path
        self._concrete = []
        for name, inputs, outputs in functions:
            given = parse(inputs)
            if isinstance(given, tuple) and len(given) == 2 and isinstance(given[0], tuple) and isinstance(given[1], dict):
                self._concrete.append((name, given, parse(outputs)))
        self._read_spec(spec)
        self._native = {}

    def _read_spec(self, data):
        from .structure import fields
        spec = next((parse(v) for tag, v in fields(data) if tag == 1), None)
        is_method = any(tag == 2 and v for tag, v in fields(data))
        self._names = [n for n in getattr(spec, "args", None) or [] if isinstance(n, str)]
        if self._names and (is_method or self._names[0] == "self"):
            del self._names[0]
        defaults = list(getattr(spec, "defaults", None) or ())
        self._defaults = dict(zip(self._names[len(self._names) - len(defaults):], defaults)) if defaults else {}
        self._defaults.update(getattr(spec, "kwonlydefaults", None) or {})

    def _arrange(self, args, kwargs, wanted):
        """The call's arguments as (positional, by keyword) in the form of a concrete function's signature; None and
        why where they cannot be."""
        positional, named = wanted
        kwargs = dict(kwargs)
        values = list(args)
        if len(values) > len(positional):
            return None, f"{len(values)} positional arguments, expected {len(positional)}"
        for i in range(len(values), len(positional)):
            name = self._names[i] if i < len(self._names) else None
            if name in kwargs:
                values.append(kwargs.pop(name))
            elif name in self._defaults:
                values.append(self._defaults[name])
            else:
                return None, f"argument {name or i} is missing"
        for name in named:
            if name not in kwargs and name in self._defaults:
                kwargs[name] = self._defaults[name]
        if set(kwargs) != set(named):
            odd = sorted(set(kwargs) ^ set(named))
            return None, f"keywords {odd} are {'missing' if set(named) - set(kwargs) else 'unknown'}"
        return (tuple(values), kwargs), None

    def _fit(self, args, kwargs, wanted, exact):
        arranged, why = self._arrange(args, kwargs, wanted)
        if arranged is None:
            return None, why
        flat = []
        for i, (spec, value) in enumerate(zip(wanted[0], arranged[0])):
            name = self._names[i] if i < len(self._names) else f"argument {i}"
            why = flatten(spec, value, name, exact, flat)
            if why:
                return None, why
        for name in sorted(wanted[1]):
            why = flatten(wanted[1][name], arranged[1][name], name, exact, flat)
            if why:
                return None, why
        return flat, None

    def __call__(self, *args, **kwargs):
        reasons = []
        for exact in (True, False):
            for name, wanted, outputs in self._concrete:
                flat, why = self._fit(args, kwargs, wanted, exact)
                if flat is not None:
                    return self._run(name, flat, outputs)
                reasons.append(why)
        tried = "\n".join(f"  {describe(w)}: {why}" for (_, w, _), why in
                          zip(self._concrete, reasons[len(self._concrete):]))
        raise TypeError("Could not find matching concrete function to call loaded from the SavedModel: "
                        f"{self._path}{describe((args, kwargs))}\n{tried}")

    def _run(self, name, flat, outputs):
        native = self._native.get(name)
        if native is None:
            native = self._native[name] = self._objects.concrete(name)
        results = native([v for _, v, _ in flat], [f"{self._path}: {where}" for _, _, where in flat])
        return pack(outputs, iter(results))

    @property
    def concrete_functions(self):
        """[(positional structure, keyword structure, result structure)], in the order they are tried."""
        return [(*wanted, outputs) for _, wanted, outputs in self._concrete]

    def __repr__(self):
        return f"<tare function {self._path}: " + "; ".join(describe(w) for _, w, _ in self._concrete) + ">"


def describe(arguments):
    """(x: float32 [None, 3], training=False)"""
    positional, named = arguments
    parts = [_brief(a) for a in positional] + [f"{k}={_brief(v)}" for k, v in named.items()]
    return "(" + ", ".join(parts) + ")"


def _brief(value):
    dtype, shape = getattr(value, "dtype", None), getattr(value, "shape", None)
    if dtype is not None:
        name = getattr(value, "name", None)
        text = f"{getattr(dtype, 'name', dtype)} {'[...]' if shape is None else list(shape)}"
        return f"{name}: {text}" if isinstance(name, str) else text
    text = repr(value)
    return text if len(text) < 80 else type(value).__name__


def _make(objects, node, path):
    children, spec, functions = objects.node(node)
    if functions:
        return Function(objects, spec, functions, path)
    return SavedObject(objects, node, path)


def _root(model):
    root = model.__dict__.get("_root")
    if root is None:
        root = model.__dict__["_root"] = SavedObject(model._objects, 0, "")
    return root


def model_attribute(model, name):
    """model.NAME, for names that the Model class does not have."""
    if name.startswith("_"):
        raise AttributeError(f"a model has no attribute '{name}'")
    from .errors import NotFoundError
    try:
        return getattr(_root(model), name)
    except NotFoundError as e:
        raise AttributeError(f"a model has no attribute '{name}': {e}") from None


def call_model(model, args, kwargs):
    return _root(model)(*args, **kwargs)
