#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What compare.py has written as a picture: of each case the times of peers by TK's.

usage: plot.py FILE.json PICTURE (.svg, .png)
"""

import json
import sys

import matplotlib

matplotlib.use("agg")
from matplotlib import pyplot, ticker  # noqa: E402

COLOURS = {
    "torch": "#999999", "torch_compile": "#555555", "cudnn": "#d55e00", "flash2": "#56b4e9",
    "flash3": "#0072b2", "flash4": "#009e73", "quack": "#e69f00", "liger": "#cc79a7",
    "fla": "#a05000", "mamba_ssm": "#7a3db8", "causal_conv1d": "#7a3db8",
}  # fmt: skip


def draw(axes, rows, title):
    """A panel: a group of bars for each case, a bar for each peer."""
    cases = {}
    for x in rows:
        cases.setdefault((x["suite"], x["case"]), {})[x["impl"]] = x["ms"]
    names, place = [], 0.0
    for (suite, case), ms in cases.items():
        peers = [x for x in COLOURS if x in ms and "tk" in ms]
        for peer in peers:
            axes.barh(place, ms[peer] / ms["tk"], 0.9, color=COLOURS[peer], label=peer)
            place += 1
        size = case.rsplit("_", 1)[0]
        names.append((place - (len(peers) + 1) / 2, f"{suite.removeprefix('torch-')}\n{size}"))
        place += 0.8
    axes.axvline(1, color="#111111", linewidth=1)
    axes.set_xscale("log")
    axes.xaxis.set_major_locator(ticker.LogLocator(subs=(1, 2, 5)))
    axes.xaxis.set_major_formatter("{x:g}")
    axes.xaxis.set_minor_locator(ticker.NullLocator())
    axes.margins(y=0.01)
    axes.set_yticks([x for x, _ in names], [x for _, x in names], fontsize=6)
    axes.invert_yaxis()
    axes.set_title(title, fontsize=9)
    axes.set_xlabel("times TK's time", fontsize=8)


def plot(document, path):
    directions = {}
    for x in document["rows"]:
        directions.setdefault(x["case"].rsplit("_", 1)[1], []).append(x)
    bars = max(len(rows) for rows in directions.values())
    figure, panels = pyplot.subplots(
        1, len(directions), squeeze=False, layout="constrained",
        figsize=(6 * len(directions), 2 + 0.2 * bars),
    )  # fmt: skip
    for axes, (direction, rows) in zip(panels[0], directions.items()):
        draw(axes, rows, direction)
    legend = {}
    for axes in panels[0]:
        for bar, name in zip(*axes.get_legend_handles_labels()):
            legend.setdefault(name, bar)
    figure.legend(legend.values(), legend, loc="outside lower center", ncols=6, fontsize=7)
    machine = document["machine"]
    figure.suptitle(
        f"{machine['device']}, {document['date'][:10]}, {document['commit'][:7]}, torch"
        f" {machine['torch']}", fontsize=9,
    )  # fmt: skip
    figure.savefig(path, dpi=150)
    pyplot.close(figure)


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    with open(sys.argv[1], encoding="utf-8") as file:
        plot(json.load(file), sys.argv[2])


if __name__ == "__main__":
    main()
