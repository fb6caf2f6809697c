import gc
import os
import threading
import time

import numpy as np
import pytest
import tare


def test_a_cycle_leaves_nothing(demo, assert_flat):
    def cycle():
        m = tare.load(demo)
        m.signatures["serving_default"](text=["rain"])["output_0"].numpy()
        m.unload()
    assert_flat(cycle)


def test_nor_does_one_that_only_drops_its_references(demo, assert_flat):
    def cycle():
        m = tare.load(demo)
        s = m.signatures["serving_default"]
        out = s(text=["rain"] * 100)
        del m
        out["output_0"].numpy()
    assert_flat(cycle)


def test_nor_do_exceptions_midway(demo, assert_flat):
    def cycle():
        for bad in ({"text": [3]}, {}, {"text": np.zeros(5)}, {"x": 1}):
            with pytest.raises((TypeError, ValueError)):
                tare.load(demo).signatures["serving_default"](**bad)
        with pytest.raises(OSError):
            tare.load("/nope")
        try:
            with tare.load(demo) as m:
                m.signatures["serving_default"](text=["x"])
                raise KeyError
        except KeyError:
            pass
    assert_flat(cycle)


def test_nor_do_big_shared_inputs_and_eager_ops(assert_flat):
    a = np.ones((200, 200), np.float32)
    tare.ops.mat_mul(a, a)
    assert_flat(lambda: tare.ops.mat_mul(a, a).numpy())


def test_a_leak_is_found():
    kept = []
    with pytest.raises(AssertionError, match="python_blocks"):
        tare.assert_flat(lambda: kept.append([object()]))
    result = tare.soak(lambda: kept.append([object()]), cycles=20)
    assert not result.flat and result.growth["python_blocks"] >= 2 and "growing" in str(result)


def dirty():
    with open("/proc/self/smaps_rollup") as f:
        return next(int(line.split()[1]) * 1024 for line in f if line.startswith("Private_Dirty:"))


def test_many_threads(demo, capsys):
    # TARE_THREAD_SECONDS=60 for the long one.
    tare.load(demo).unload()  # the context's own bytes, of the first load
    seconds = float(os.environ.get("TARE_THREAD_SECONDS", 4))
    stop, failures, runs = time.monotonic() + seconds, [], [0] * 8
    before = tare.memory().total
    private = []  # bytes that the process has dirtied, once a tenth of the time

    def work(i):
        try:
            while time.monotonic() < stop:
                m = tare.load(demo)
                s = m.signatures["serving_default"]
                for _ in range(5):
                    assert s(text=["rain"])["output_0"].shape == (1, 3)
                m.unload() if i % 2 else None
                runs[i] += 1
        except Exception as e:  # noqa: BLE001
            failures.append(e)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    [t.start() for t in threads]
    for _ in range(10):
        time.sleep(seconds / 10)
        private.append(dirty())
    [t.join() for t in threads]
    gc.collect()
    assert not failures and all(runs)
    assert tare.memory().total == before
    with capsys.disabled():
        print(f"\n8 threads: {sum(runs)} loads in {seconds:g} s, private dirty "
              + ", ".join(f"{p / 1048576:.1f}" for p in private) + " MiB")
    # Every load that stayed would be 100 KiB and more.
    assert max(private[7:]) < max(private[2:6]) + (8 << 20)


class Thing:
    pass


KEPT = {}


def test_heap_finds_who_grows():
    before = tare.heap.snapshot()
    KEPT["things"] = [Thing() for _ in range(50)]
    grown = {g.type: g for g in tare.heap.growth(before)}
    mine = grown[f"{__name__}.Thing"]
    assert mine.more == 50 and mine.size > 0 and "KEPT['things'][" in str(mine.path)
    KEPT.clear()
