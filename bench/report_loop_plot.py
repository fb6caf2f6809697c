#!/usr/bin/env python3
"""Draws the series of report_loop.py as one SVG: python report_loop_plot.py OUT.svg A.json B.json ...

A row for each part (--part), with a panel for malloc's bytes in use and one for private dirty; each line is
how far a run is from its tenth cycle. A file holds one run or a list. Needs only Python.
"""
import html
import json
import sys

COLORS = ["#d62728", "#ff7f0e", "#9467bd", "#8c564b", "#1f77b4", "#2ca02c", "#17becf", "#e377c2"]
WIDTH, HEIGHT, LEFT, TOP, GAP = 460, 200, 70, 40, 90
PANELS = [("malloc", "malloc: bytes in use"), ("private_dirty", "private dirty")]


def amount(v):
    return f"{v / 1048576:.1f} MiB" if abs(v) >= 1048576 else f"{v / 1024:.0f} KiB"


def panel(at, top, key, title, runs, colors):
    lines = [[v - r["series"][key][min(10, len(r["series"][key]) - 1)] for v in r["series"][key]] for r in runs]
    high = max(max(map(max, lines)), 65536) * 1.05
    # Below cycle 10 lies only the warm-up.
    low = -high * 0.15
    cycles = max(map(len, lines))

    def x(i):
        return at + i / max(1, cycles - 1) * WIDTH

    def y(v):
        return top + HEIGHT - (max(v, low) - low) / (high - low) * HEIGHT

    out = [f'<text x="{at}" y="{top - 10}" font-weight="bold">{html.escape(title)}, against cycle 10</text>',
           f'<rect x="{at}" y="{top}" width="{WIDTH}" height="{HEIGHT}" fill="none" stroke="#999"/>']
    for i in range(5):
        v = high * i / 4
        out.append(f'<line x1="{at}" x2="{at + WIDTH}" y1="{y(v):.1f}" y2="{y(v):.1f}" stroke="#eee"/>'
                   f'<text x="{at - 6}" y="{y(v) + 4:.1f}" text-anchor="end">{amount(v)}</text>')
    for run, line in zip(runs, lines):
        points = " ".join(f"{x(i):.1f},{y(v):.1f}" for i, v in enumerate(line))
        out.append(f'<polyline points="{points}" fill="none" stroke="{colors[run["label"]]}" stroke-width="2"/>')
    out.append(f'<text x="{at + WIDTH}" y="{top + HEIGHT + 16}" text-anchor="end">cycle {cycles}</text>')
    return out


def legend(top, runs, colors):
    out = []
    for i, run in enumerate(runs):
        y, growth = top + 20 * i, run["growth_per_cycle"]
        text = (f'{run["label"]}: malloc {growth["malloc"] / 1024:+,.1f} KiB, private dirty '
                f'{growth["private_dirty"] / 1024:+,.1f} KiB, Python {growth["python_blocks"]:+,.1f} blocks a cycle')
        out.append(f'<line x1="{LEFT}" x2="{LEFT + 24}" y1="{y - 4}" y2="{y - 4}" stroke="{colors[run["label"]]}" '
                   f'stroke-width="3"/><text x="{LEFT + 32}" y="{y}">{html.escape(text)}</text>')
    return out


def main():
    target, *files = sys.argv[1:]
    runs = []
    for name in files:
        with open(name) as f:
            content = json.load(f)
        runs += content if isinstance(content, list) else [content]
    parts, labels = {}, {}
    for run in runs:
        parts.setdefault(run.get("part") or "", []).append(run)
        labels.setdefault(run["label"], COLORS[len(labels) % len(COLORS)])
    body, top = [], TOP
    for name, members in parts.items():
        for i, (key, title) in enumerate(PANELS):
            body += panel(LEFT + i * (WIDTH + GAP), top, key, f"{name}: {title}" if name else title, members, labels)
        body += legend(top + HEIGHT + 36, members, labels)
        top += HEIGHT + 36 + 20 * len(members) + 50
    width = LEFT + len(PANELS) * (WIDTH + GAP)
    head = (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{top - 30}" font-family="sans-serif" '
            f'font-size="12"><rect width="100%" height="100%" fill="white"/>')
    with open(target, "w") as f:
        f.write("\n".join([head, *body, "</svg>"]))


if __name__ == "__main__":
    main()
