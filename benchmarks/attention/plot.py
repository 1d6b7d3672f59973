#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Attention beside its peers as an SVG, from what a run wrote: TFLOP/s over keys, a panel for each
head size, mask and direction. The same files give the same bytes. The drawing names its files.

usage: plot.py FILE.json... >docs/attention.svg
       plot.py --check FILE.svg    is it what its files give?
"""
import json
import math
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CASE = re.compile(r"d(\d+)_n(\d+)_(full|causal)(_b\d+_h\d+)?")
SUITES = {"attention-fwd": "forward", "attention-bwd": "backward"}
MASKS = ("full", "causal")
# name, colour, dashes, width; others are not drawn
STYLES = {"tk": ("TK", "#111111", "", 2.4),
          "fa3": ("FlashAttention-3", "#0072b2", "", 1.5),
          "flash3": ("FlashAttention-3", "#0072b2", "", 1.5),
          "fa3 deterministic": ("FlashAttention-3, deterministic", "#0072b2", "5 3", 1.5),
          "flash3_deterministic": ("FlashAttention-3, deterministic", "#0072b2", "5 3", 1.5),
          "flash4": ("FlashAttention-4", "#009e73", "", 1.5),
          "cudnn": ("cuDNN", "#d55e00", "", 1.5),
          "cudnn deterministic": ("cuDNN, deterministic", "#d55e00", "5 3", 1.5)}
PANEL, GAP = (192, 132), (34, 34)
LEFT, TOP, RIGHT, BOTTOM = 64, 78, 20, 30
STEP = 200  # TFLOP/s from a line of the grid to the next


def read(paths):
    """{(suite, mask, d): {impl: {keys: TFLOP/s}}}, a line that says what was measured, and the files."""
    panels, stamps = {}, {}
    for path in paths:
        with open(path, encoding="utf-8") as file:
            document = json.load(file)
        suites = set()
        for row in document["rows"]:
            found = CASE.fullmatch(row["case"])
            if row["suite"] in SUITES and found and row["impl"] in STYLES and row["dtype"] == "bf16":
                where = row["suite"], found[3], int(found[1])
                curve = panels.setdefault(where, {}).setdefault(row["impl"], {})
                curve[int(found[2])] = row["flops"] / row["ms"] / 1e9
                suites.add(SUITES[row["suite"]])
        if not suites:
            sys.exit(f"plot.py: {path} has no case of {' or '.join(SUITES)} whose name is of the form d64_n512_full")
        stamps.setdefault(f"{document['date'][:10]}, {document['commit'][:7]}", set()).update(suites)
    measured = "; ".join(f"{' and '.join(sorted(of))} {stamp}" for stamp, of in stamps.items())
    return panels, f"{document['machine']['device']}, bf16; {measured}", paths


class drawing:
    """Lines of an SVG; coordinates with one decimal."""

    def __init__(self, width, height, description):
        self.lines = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
                      f'width="{width}" height="{height}" font-family="sans-serif" font-size="11">',
                      f"<desc>{description}</desc>",
                      f'<rect width="{width}" height="{height}" fill="#ffffff"/>']

    def line(self, points, colour, width, dashes=""):
        places = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        dashed = f' stroke-dasharray="{dashes}"' if dashes else ""
        self.lines.append(f'<polyline points="{places}" fill="none" stroke="{colour}" '
                          f'stroke-width="{width}"{dashed}/>')

    def dot(self, x, y, colour):
        self.lines.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.2" fill="{colour}"/>')

    def text(self, x, y, text, anchor="middle", more=""):
        self.lines.append(f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="#333333"{more}>{text}</text>')

    def finish(self):
        return "\n".join(self.lines + ["</svg>", ""])


def keys_text(n):
    return f"{n // 1024}k" if n >= 1024 else str(n)


class panel:
    """Places in one panel, whose upper left corner is at x, y."""

    def __init__(self, x, y, keys, top):
        self.x, self.y, self.keys, self.top = x, y, keys, top

    def at(self, n, rate):
        first, last = math.log2(self.keys[0]), math.log2(self.keys[-1])
        share = (math.log2(n) - first) / ((last - first) or 1)
        return self.x + share * PANEL[0], self.y + (1 - rate / self.top) * PANEL[1]

    def draw(self, svg, curves):
        for rate in range(0, self.top + 1, STEP):
            y = self.at(self.keys[0], rate)[1]
            svg.line([(self.x, y), (self.x + PANEL[0], y)], "#dddddd", 1)
        for n in self.keys:
            svg.text(self.at(n, 0)[0], self.y + PANEL[1] + 14, keys_text(n))
        for impl in reversed(STYLES):  # TK last, on top
            points = [self.at(n, rate) for n, rate in sorted(curves.get(impl, {}).items())]
            if points:
                _, colour, dashes, width = STYLES[impl]
                svg.line(points, colour, width, dashes)
                for x, y in points:
                    svg.dot(x, y, colour)


def legend(svg, impls):
    x = LEFT
    for impl in (i for i in STYLES if i in impls):
        name, colour, dashes, width = STYLES[impl]
        svg.line([(x, 40), (x + 26, 40)], colour, width, dashes)
        svg.text(x + 32, 44, name, "start")
        x += 52 + 6.2 * len(name)


def plot(panels, about, paths):
    columns = [(suite, mask) for suite in SUITES for mask in MASKS]
    widths = sorted({d for _, _, d in panels if d in (64, 128, 256)})
    curves = [curve for found in panels.values() for curve in found.values()]
    keys = sorted({n for curve in curves for n in curve})
    top = STEP * math.ceil(max(rate for curve in curves for rate in curve.values()) / STEP)
    svg = drawing(LEFT + len(columns) * (PANEL[0] + GAP[0]) - GAP[0] + RIGHT,
                  TOP + len(widths) * (PANEL[1] + GAP[1]) - GAP[1] + BOTTOM,
                  "Drawn from " + " ".join(os.path.relpath(path, ROOT) for path in paths))
    svg.text(LEFT, 20, f"Attention, TFLOP/s over keys ({about})", "start", ' font-size="14"')
    legend(svg, {impl for found in panels.values() for impl in found})
    for i, (suite, mask) in enumerate(columns):
        x = LEFT + i * (PANEL[0] + GAP[0])
        svg.text(x + PANEL[0] / 2, TOP - 10, f"{SUITES[suite]}, {mask}", more=' font-weight="bold"')
        for j, d in enumerate(widths):
            y = TOP + j * (PANEL[1] + GAP[1])
            place = panel(x, y, keys, top)
            place.draw(svg, panels.get((suite, mask, d), {}))
            if i == 0:
                svg.text(14, y + PANEL[1] / 2, f"d {d}", more=f' font-weight="bold" transform='
                         f'"rotate(-90 14 {y + PANEL[1] / 2:.1f})"')
                for rate in range(0, top + 1, STEP):
                    svg.text(x - 6, place.at(keys[0], rate)[1] + 4, str(rate), "end")
    return svg.finish()


def check(path):
    with open(path, encoding="utf-8") as file:
        drawn = file.read()
    named = re.search("<desc>Drawn from (.*)</desc>", drawn)
    if not named or plot(*read([os.path.join(ROOT, name) for name in named[1].split()])) != drawn:
        sys.exit(f"plot.py: {path} is not what its files give")


def main():
    if sys.argv[1:2] == ["--check"] and len(sys.argv) == 3:
        return check(sys.argv[2])
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    sys.stdout.write(plot(*read(sys.argv[1:])))


if __name__ == "__main__":
    main()
