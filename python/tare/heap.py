"""Python's own heap: which objects a program gathers, and who holds them. Works on any program.

    before = tare.heap.snapshot()
    work()
    print(tare.heap.growth(before))            # types that grew: count, bytes, who holds the newest
    print(tare.heap.path_to(some_object))      # from a root (a module, a frame) down to it

Only objects that the garbage collector tracks are found (containers and instances), and what they hold
directly is added to their size. Heaps outside Python are for tare.soak and the tools of docs/finding-leaks.md.
"""
import gc
import sys
from collections import deque
from types import FrameType, ModuleType


class Snapshot:
    """The objects that were alive, by type: ids, so that later ones are told apart. Keeps none alive."""

    __slots__ = ("ids", "counts")

    def __init__(self, objects):
        self.ids = {id(o) for o in objects}
        self.counts = {}
        for o in objects:
            name = type_name(o)
            self.counts[name] = self.counts.get(name, 0) + 1


class Growth:
    """One type that grew: `more` objects since the snapshot, `size` their bytes, `path` to one of them."""

    __slots__ = ("type", "more", "size", "path")

    def __init__(self, type, more, size, path):
        self.type, self.more, self.size, self.path = type, more, size, path

    def __repr__(self):
        return f"{self.type}: +{self.more} objects, {self.size:,} bytes" + (f", held by {self.path}" if self.path else "")


def type_name(o):
    t = type(o)
    return t.__qualname__ if t.__module__ == "builtins" else f"{t.__module__}.{t.__qualname__}"


def size_of(o):
    """Its own bytes and those of untracked values it refers to (strings, numbers, array data)."""
    total = sys.getsizeof(o, 0)
    for held in gc.get_referents(o):
        if not gc.is_tracked(held) and not isinstance(held, type):
            total += sys.getsizeof(held, 0)
    return total


def snapshot():
    """What is alive now, to be compared with later."""
    gc.collect()
    return Snapshot(gc.get_objects())


def growth(before, top=10, paths=True):
    """The types of which there are more objects than in `before`, most bytes first: a list of Growth."""
    gc.collect()
    objects = gc.get_objects()
    new, counts = {}, {}
    for o in objects:
        name = type_name(o)
        counts[name] = counts.get(name, 0) + 1
        if id(o) not in before.ids and o is not before and o is not before.counts and o is not before.ids:
            new.setdefault(name, []).append(o)
    ours = {id(x) for x in (objects, new, counts, *new.values())}
    found = []
    for name, list_ in new.items():
        more = counts[name] - before.counts.get(name, 0)
        if more > 0:
            found.append((sum(map(size_of, list_)), more, name, list_[-1]))
    found.sort(key=lambda f: -f[0])
    ours.add(id(found))
    ours.update(map(id, found))
    return [Growth(name, more, size, path_to(o, ignore=ours) if paths else None) for size, more, name, o in found[:top]]


class Path:
    """A chain of holders from a root to an object."""

    __slots__ = ("steps",)

    def __init__(self, steps):
        self.steps = steps

    def __str__(self):
        return "".join(self.steps)

    __repr__ = __str__


def _root_name(o):
    if isinstance(o, ModuleType):
        return o.__name__
    if isinstance(o, FrameType):
        return f"{o.f_code.co_name}() at {o.f_code.co_filename}:{o.f_lineno}"
    return None


def _step(holder, held):
    """How `holder` refers to `held`: ".name", "[key]" or "<type>"."""
    if isinstance(holder, dict):
        for key, value in list(holder.items()):
            if value is held:
                return f"[{key!r}]"
        return "[a key]"
    if isinstance(holder, (list, tuple, deque)):
        for i, value in enumerate(holder):
            if value is held:
                return f"[{i}]"
    attributes = getattr(holder, "__dict__", None)
    if attributes is held:
        return ".__dict__"
    if isinstance(attributes, dict):
        for key, value in list(attributes.items()):
            if value is held:
                return f".{key}"
    if isinstance(holder, FrameType):
        for key, value in list(holder.f_locals.items()):
            if value is held:
                return f" local '{key}'"
    return f" <{type_name(holder)}> -> "


def path_to(target, ignore=(), limit=20_000):
    """The shortest path by which a module or a frame holds the object; None when none does within `limit`
    objects (a cycle that waits for the collector, or a holder outside Python)."""
    frame = sys._getframe()
    own = set(ignore)
    while frame and frame.f_globals.get("__name__") == __name__:
        own.add(id(frame))
        frame = frame.f_back
    parents, todo = {id(target): None}, deque([target])
    own.update((id(parents), id(todo)))
    while todo and len(parents) < limit:
        held = todo.popleft()
        holders = gc.get_referrers(held)
        own.add(id(holders))
        for holder in holders:
            if id(holder) in own or id(holder) in parents:
                continue
            parents[id(holder)] = (holder, held)
            if _root_name(holder):
                return _trace(holder, parents)
            todo.append(holder)
        del holders
    return None


def _trace(root, parents):
    steps, at = [_root_name(root)], root
    while parents[id(at)] is not None:
        holder, held = parents[id(at)]
        step = _step(holder, held)
        # A module's or instance's dictionary is its attributes.
        if step.startswith("[") and len(steps) > 1 and steps[-1] == ".__dict__":
            steps[-1] = "." + step[2:-2] if step[1] in "'\"" else step
        else:
            steps.append(step)
        at = held
    return Path(steps)
