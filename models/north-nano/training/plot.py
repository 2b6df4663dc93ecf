"""The loss curve of all stages as an SVG picture.

    python3 plot.py CURVE.json... OUT.svg
"""

import json
import sys
from pathlib import Path

WIDTH, HEIGHT, LEFT, BOTTOM, TOP = 800, 400, 60, 40, 20
SERIES = {"text": "#4a7", "prompt": "#999", "answer": "#c33"}
MOST = 4.0  # nats


def main():
    *paths, out = sys.argv[1:]
    points, names, step, ends = [], None, 0, []
    for path in paths:
        curve = json.loads(Path(path).read_text())
        names = curve["names"]
        points += [[step + row[0], *row[1:]] for row in curve["rows"]]
        step = points[-1][0]
        ends.append(step)
    x = lambda s: LEFT + (WIDTH - LEFT - 20) * s / step
    y = lambda v: TOP + (HEIGHT - BOTTOM - TOP) * (1 - min(v, MOST) / MOST)
    svg = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="12">',
           f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>']
    for v in range(int(MOST) + 1):
        svg.append(f'<line x1="{LEFT}" x2="{WIDTH - 20}" y1="{y(v)}" y2="{y(v)}" stroke="#ddd"/><text x="{LEFT - 20}" y="{y(v) + 4}">{v}</text>')
    for end in ends[:-1]:
        svg.append(f'<line x1="{x(end):.0f}" x2="{x(end):.0f}" y1="{TOP}" y2="{HEIGHT - BOTTOM}" stroke="#aaa" stroke-dasharray="4"/>')
    for i, (name, color) in enumerate(SERIES.items()):
        column = names.index(name)
        line = " ".join(f"{x(p[0]):.1f},{y(p[column]):.1f}" for p in points)
        svg.append(f'<polyline points="{line}" fill="none" stroke="{color}" stroke-width="1.5"/>'
                   f'<text x="{WIDTH - 160}" y="{TOP + 16 * (i + 1)}" fill="{color}">{name}: {points[-1][column]:.3f}</text>')
    svg.append(f'<text x="{LEFT}" y="{HEIGHT - 10}">nats per token over {step:,} steps of 131,072 tokens; dashed: a new stage</text></svg>')
    Path(out).write_text("\n".join(svg) + "\n")


if __name__ == "__main__":
    main()
