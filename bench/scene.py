#!/usr/bin/env python3
"""The scene of the report: one model in a loop under three policies of the kernel cache.

    python3 bench/scene.py --tare build/bin/tare [--model DIR] [--cycles 1000]

Writes docs/scene.svg and prints the rows of docs/scene.md's table. Needs only Python.
"""
import argparse
import json
import pathlib
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).parent.parent
POLICIES = [("unbounded", "#c0392b"), ("lru:1000", "#2471a3"), ("lru", "#1e8449")]
WIDTH, HEIGHT, LEFT, BOTTOM, TOP, RIGHT = 720, 360, 80, 40, 20, 110


def points(values, top):
    step = max(1, len(values) // 300)
    for i in range(0, len(values), step):
        x = LEFT + (WIDTH - LEFT - RIGHT) * i / max(1, len(values) - 1)
        yield f"{x:.1f},{HEIGHT - BOTTOM - (HEIGHT - BOTTOM - TOP) * values[i] / top:.1f}"


def draw(curves, cycles):
    top = max(max(v) for _, _, v in curves) * 1.05 or 1
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" '
           f'font-size="12"><rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>']
    for i in range(5):
        y = HEIGHT - BOTTOM - (HEIGHT - BOTTOM - TOP) * i / 4
        out.append(f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y}" y2="{y}" stroke="#ddd"/>'
                   f'<text x="{LEFT - 6}" y="{y + 4}" text-anchor="end">{top * i / 4 / 1e6:.2f} MB</text>')
    out.append(f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 8}" text-anchor="middle">'
               f'live bytes above the first cycle, over {cycles} load-run-unload cycles</text>')
    for k, (name, colour, values) in enumerate(curves):
        out.append(f'<polyline fill="none" stroke="{colour}" stroke-width="2" points="{" ".join(points(values, top))}"/>'
                   f'<text x="{WIDTH - RIGHT + 8}" y="{TOP + 14 + 18 * k}" fill="{colour}">{name}</text>')
    return "\n".join(out) + "\n</svg>\n"


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--tare", default="build/bin/tare")
    p.add_argument("--model", default="build/test_data/cycle/keras_dense_sm")
    p.add_argument("--cycles", type=int, default=1000)
    p.add_argument("--svg", default=str(ROOT / "docs/scene.svg"))
    args = p.parse_args()
    curves = []
    for policy, colour in POLICIES:
        with tempfile.NamedTemporaryFile(suffix=".json") as f:
            run = subprocess.run([args.tare, "soak", args.model, "--cycles", str(args.cycles), "--kernel-cache", policy,
                                  "--json", f.name, "--quiet"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            result = json.load(open(f.name))
        live = result["series"]["live_bytes"]
        curves.append((policy, colour, [max(0, v - live[0]) for v in live]))
        meters = result["verdict"]["meters"]
        print(f"| `{policy}` | {meters['live_bytes']['per_cycle']:+,.0f} | {result['series']['cache_entries'][-1]:,} entries, "
              f"{result['series']['cache_bytes'][-1]:,} B | {result['verdict']['judgement']} |")
        if run.stderr.strip():
            print(run.stderr.strip())
    pathlib.Path(args.svg).write_text(draw(curves, args.cycles))
    print("drawn:", args.svg)


if __name__ == "__main__":
    main()
