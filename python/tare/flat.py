"""Is it flat? Cycles any Python function or model and meters the heaps that a Python program has.

tare.soak returns the figures; tare.assert_flat fails a test on them. Heaps: Python's own blocks
(sys.getallocatedblocks), Tare's ledger and kernel cache, malloc (bytes in use, from mallinfo2; it drifts with
glibc's thread caches) and the OS (private dirty). Any one of them lies; together they do not.
"""
import gc
import os
import sys
from array import array

from . import _tare

# name, unit, growth per cycle that is still flat, whether the last cycles must agree exactly
_METERS = (
    ("python_blocks", "blocks", 0.0),
    ("ledger", "B", 0.0),
    ("kernel_cache", "entries", 0.0),
    ("malloc", "B", 256.0),
    ("private_dirty", "B", 4096.0),
)
NAMES = tuple(name for name, _, _ in _METERS)

# Up to Python 3.10 a function's code is given two blocks, a cache of its globals, at its 1,024th call: until all
# that a cycle calls have theirs, blocks grow.
_CACHES_LATE = sys.version_info < (3, 11)


def _private_dirty(fd):
    """Of /proc/self/smaps_rollup; 0 where there is none."""
    if fd < 0:
        return 0
    text = os.pread(fd, 4096, 0)
    at = text.find(b"Private_Dirty:")
    return int(text[at + 14:].split(None, 1)[0]) * 1024 if at >= 0 else 0


class SoakResult:
    """What a soak read: `series` (meter to one figure a cycle), `growth` (meter to growth a cycle after
    warm-up), `growing` (the meters whose growth is more than noise), `flat`."""

    def __init__(self, cycles, warm_up, series):
        self.cycles, self.warm_up, self.series = cycles, warm_up, series
        self.growth = {name: _slope(values[warm_up:]) for name, values in series.items()}
        # The interpreter's own caches move by a block or two: that much in all is no trend.
        jitter = {"python_blocks": 2 / max(1, cycles - warm_up)}
        self.growing = [name for name, _, tolerance in _METERS
                        if self.growth[name] > max(tolerance, jitter.get(name, 0))]

    @property
    def flat(self):
        return not self.growing

    def dict(self):
        return {"cycles": self.cycles, "warm_up": self.warm_up, "series": self.series, "growth": self.growth,
                "growing": self.growing, "flat": self.flat}

    def __str__(self):
        verdict = "flat" if self.flat else "growing: " + ", ".join(self.growing)
        lines = [f"{verdict}, after {self.warm_up} of {self.cycles} cycles to warm up"]
        for name, unit, _ in _METERS:
            lines.append(f"  {name:14} {self.growth[name]:+12.2f} {unit} a cycle   now {self.series[name][-1]:,}")
        return "\n".join(lines)

    def __repr__(self):
        return f"<tare.SoakResult {'flat' if self.flat else self.growing}>"


def _slope(values):
    """Growth a cycle as the median of halves' differences: one step (a table that doubled) is no trend."""
    n = len(values)
    if n < 2:
        return 0.0
    if values[-1] == values[0]:
        return 0.0
    half = n // 2
    steps = sorted((values[i + n - half] - values[i]) / (n - half) for i in range(half))
    return steps[len(steps) // 2]


def _cycle_of(path):
    from ._tare import load

    def cycle():
        load(path).unload()
    return cycle


def soak(target, cycles=100, *, warm_up=None, collect=True):
    """Calls `target` (a function without arguments, or the path of a model to load and unload) `cycles` times,
    reads every meter after each, and returns a SoakResult. `collect` runs gc.collect() before reading; an
    exception of the function ends the soak. `warm_up` cycles (default: a third, at most 20) are set apart."""
    call = target if callable(target) else _cycle_of(os.fspath(target))
    if cycles < 4:
        raise ValueError("a soak needs 4 cycles")
    if warm_up is None:
        warm_up = min(cycles // 3, 20)
    # All that the soak keeps is there before the first reading; a figure in an array is no block of Python's.
    series = {name: array("q", bytes(8 * cycles)) for name in NAMES}
    blocks, ledger, cache, malloc, dirty = series.values()
    try:
        fd = os.open("/proc/self/smaps_rollup", os.O_RDONLY)
    except OSError:
        fd = -1
    try:
        for i in range(cycles):
            call()
            if collect:
                gc.collect()
            ledger[i], cache[i], malloc[i] = _tare.meters()
            dirty[i] = _private_dirty(fd)
            blocks[i] = sys.getallocatedblocks()
    finally:
        if fd >= 0:
            os.close(fd)
    return SoakResult(cycles, warm_up, {name: list(values) for name, values in series.items()})


def assert_flat(fn, cycles=50, *, meters=("python_blocks", "ledger", "kernel_cache"), **options):
    """Fails with AssertionError when cycles of `fn` leave anything on one of the `meters` (NAMES has all; those of
    the default are exact). A warm-up that is longer than it seemed ends in a second or third try, a leak does not.
    Returns the SoakResult. For tests of your own:

        def test_my_service():
            tare.assert_flat(lambda: service.handle(request))
    """
    for attempt in range(4 if _CACHES_LATE else 3):
        if attempt == 3:
            for _ in range(1024):
                fn()
        result = soak(fn, cycles, **options)
        growing = [m for m in result.growing if m in meters]
        if not growing:
            return result
    raise AssertionError(f"not flat: {', '.join(growing)} grow\n{result}")
