"""What importing and calling cost, and that nothing of nanobind's is left at exit."""
import json
import os
import pathlib
import re
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
        assert p.stderr == "", p.stderr
    # And what is left is told.
    p = run(code + "import ctypes; ctypes.pythonapi.Py_IncRef(ctypes.py_object(m))")[1]
    assert "nanobind: leaked" in p.stderr and "tare._tare.Model" in p.stderr


def test_the_readme_s_ten_lines(demo):
    root = pathlib.Path(demo).parents[3]
    blocks = re.findall(r"```python\n(.*?)```", (root / "README.md").read_text(), re.S)
    assert len(blocks) == 1
    p = subprocess.run([sys.executable, "-I", "-c", blocks[0]], capture_output=True, text=True, cwd=root, check=True)
    assert "[[" in p.stdout and "still held" in p.stdout and p.stderr == ""


def test_the_report_s_loop(demo, tmp_path):
    """Only the import differs from TensorFlow's; nothing stays, whether it unloads, deletes or fails midway."""
    root = pathlib.Path(demo).parents[3]
    for flags in ([], ["--unload"], ["--fail-midway"], ["--clear-caches"]):
        out = tmp_path / "out.json"
        subprocess.run([sys.executable, root / "bench" / "report_loop.py", "--with", "tare", "--cycles", "30", "--model",
                        demo, "--out", out, *flags], capture_output=True, text=True, check=True)
        result = json.loads(out.read_text())
        assert result["growth_per_cycle"]["alive"] == 0 and result["growth_per_cycle"]["python_blocks"] == 0, flags
