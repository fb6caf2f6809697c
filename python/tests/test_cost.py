"""What importing and calling cost, and that nothing of nanobind's is left at exit."""
import os
import pathlib
import subprocess
import sys
import time

import numpy as np
import tare

RSS = ("import re; print(re.search(r'VmRSS:\\s+(\\d+)', open('/proc/self/status').read()).group(1))")


def run(code, *flags):
    started = time.perf_counter()
    p = subprocess.run([sys.executable, "-I", *flags, "-c", code], capture_output=True, text=True, check=True)
    return time.perf_counter() - started, p


def test_importing_is_cheap(capsys):
    seconds = min(run("import tare")[0] for _ in range(7)) - min(run("pass")[0] for _ in range(7))
    kib = min(int(run(f"import tare; {RSS}")[1].stdout) for _ in range(3)) - min(int(run(RSS)[1].stdout) for _ in range(3))
    with capsys.disabled():
        print(f"\nimport tare: {seconds * 1e3:.1f} ms and {kib / 1024:.1f} MiB over bare Python")
    assert kib < 10 * 1024 and seconds < 0.2  # 40 ms on an idle machine
    assert run("import tare, sys; print('numpy' in sys.modules)")[1].stdout == "False\n"


def test_a_call_is_cheap(data, capsys):
    with tare.load(data / "corpus" / "m_half_plus_two") as m:
        call = m.signatures["serving_default"]
        (name, spec), = call.inputs.items()
        x = np.ones([1 if d is None else d for d in spec.shape], np.float32)
        best = 1e9
        for _ in range(20):
            started = time.perf_counter()
            for _ in range(1000):
                call(**{name: x})
            best = min(best, time.perf_counter() - started)
    with capsys.disabled():
        print(f"\na call of half_plus_two: {best * 1e3:.2f} us")
    assert best < 0.05  # 5 us on an idle machine


def test_nothing_of_nanobind_is_left(demo):
    code = f"""
import tare
m = tare.load({demo!r})
kept = m.signatures["serving_default"](text=["x"])
try:
    m.signatures["serving_default"](text=[1])
except TypeError:
    pass
m.variables[0].numpy(); tare.kernel_cache(); tare.memory(); tare.ops.add_v2(1, 2)
"""
    for more in ("", "m.unload()", "del m", "import sys; sys.exit(0)"):
        p = run(code + more)[1]
        assert "nanobind" not in p.stderr and p.stderr == "", p.stderr


def test_readme(demo):
    root = pathlib.Path(demo).parents[3]
    p = subprocess.run([sys.executable, "-c", "import tare; m = tare.load('examples/demo/models/en');"
                        "print(m.signatures['serving_default'](text=['rain'])); print(m.unload())"],
                       capture_output=True, text=True, cwd=root, env={**os.environ, "PYTHONPATH": ""}, check=True)
    assert "still held" in p.stdout
