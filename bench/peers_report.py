"""What bench/peers.py found, as JSON, a table and a chart of ratios."""
import json
import math

COLOURS = {"tensorflow": "#e67e22", "openvino": "#2471a3", "onnxruntime": "#7d3c98", "litert": "#1e8449"}
LABELS = {"tensorflow": "TensorFlow", "openvino": "OpenVINO", "onnxruntime": "ONNX Runtime", "litert": "LiteRT"}
WIDTH, LEFT, RIGHT, ROW, TOP = 760, 190, 30, 18, 56


def best_peer(row):
    return min((ms, name) for name, ms in row["ms"].items() if name != "tare")


def comparable(rows):
    return [row for row in rows if "tare" in row["ms"] and len(row["ms"]) > 1]


def geometric_mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def case_name(row):
    return "cold cycle" if row["case"] == "cold" else f"{row['threads']} thread{'s'[:row['threads'] > 1]}, batch {row['batch']}"


def number(ms):
    return f"{ms:.4f}" if ms < 0.1 else f"{ms:.2f}" if ms < 10 else f"{ms:.1f}" if ms < 100 else f"{ms:,.0f}"


def table(rows):
    peers = [p for p in LABELS if any(p in row["ms"] for row in rows)]
    out = ["| model | case | Tare | " + " | ".join(LABELS[p] for p in peers) + " | Tare / best peer |",
           "|---|---|" + "---:|" * (len(peers) + 2)]
    for row in rows:
        cells = [number(row["ms"][p]) if p in row["ms"] else "-" for p in ["tare", *peers]]
        ratio = f"{row['ms']['tare'] / best_peer(row)[0]:.2f}" if row in comparable(rows) else "-"
        out.append(f"| {row['model']} | {case_name(row)} | {' | '.join(cells)} | {ratio} |")
    for case in ("cold", "steady"):
        ratios = [row["ms"]["tare"] / best_peer(row)[0] for row in comparable(rows) if row["case"] == case]
        if ratios:
            out.append(f"\nGeometric mean of Tare / best peer, {case}: {geometric_mean(ratios):.2f}.")
    return "\n".join(out) + "\n"


def chart(rows):
    """A row a case: each peer's time as a multiple of Tare's, on a logarithmic scale."""
    rows = comparable(rows)
    ratios = [ms / row["ms"]["tare"] for row in rows for ms in row["ms"].values()]
    low, high = math.log10(min(ratios)) - 0.05, math.log10(max(ratios)) + 0.1
    place = lambda ratio: LEFT + (WIDTH - LEFT - RIGHT) * (math.log10(ratio) - low) / (high - low)
    height = TOP + ROW * len(rows) + 34
    bottom = TOP + ROW * len(rows)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" font-family="sans-serif" '
           f'font-size="11"><rect width="{WIDTH}" height="{height}" fill="white"/>'
           f'<text x="10" y="18" font-size="13">Time of each peer as a multiple of Tare\'s: right of 1, Tare is faster</text>']
    for i, (peer, colour) in enumerate(COLOURS.items()):
        out.append(f'<circle cx="{LEFT + 110 * i}" cy="34" r="4" fill="{colour}"/>'
                   f'<text x="{LEFT + 8 + 110 * i}" y="38">{LABELS[peer]}</text>')
    for tick in (0.25, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500):
        if low <= math.log10(tick) <= high:
            colour = "#333" if tick == 1 else "#ddd"
            out.append(f'<line x1="{place(tick):.1f}" x2="{place(tick):.1f}" y1="{TOP - 8}" y2="{bottom}" stroke="{colour}"/>'
                       f'<text x="{place(tick):.1f}" y="{bottom + 16}" text-anchor="middle">{tick:g}</text>')
    for i, row in enumerate(rows):
        y = TOP + ROW * i + 4
        out.append(f'<text x="{LEFT - 10}" y="{y + 4}" text-anchor="end">{row["model"]}, {case_name(row)}</text>')
        for peer, ms in row["ms"].items():
            if peer != "tare":
                out.append(f'<circle cx="{place(ms / row["ms"]["tare"]):.1f}" cy="{y}" r="4" fill="{COLOURS[peer]}" '
                           f'fill-opacity="0.85"/>')
    return "\n".join(out) + "\n</svg>\n"


def write_report(rows, out):
    """Writes peers.json, peers.md and peers.svg to `out`; returns the table."""
    text = table(rows)
    (out / "peers.json").write_text(json.dumps(rows, indent=1) + "\n")
    (out / "peers.md").write_text(text)
    if comparable(rows):
        (out / "peers.svg").write_text(chart(rows))
    return text
