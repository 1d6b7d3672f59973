# SPDX-License-Identifier: MIT
"""Tables of what benchmarks/results says of an op: of each card, and each arch that ran on it, the
files of the newest commit that has it."""

import json
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# Suites whose names are not the op's own.
OTHERS = {
    "attention": "attention_forward",
    "attention_varlen": "attention_forward",
    "attention_options": "attention_forward",
    "attention_options_backward": "attention_backward",
}


def name_of(suite):
    """norm-bwd is that of norm_backward, and torch-rms_norm_residual of tk_ops.torch.rms_norm."""
    if suite.startswith("torch-"):
        return suite.replace("-", ".").removesuffix("_residual")
    name = suite.replace("-", "_").removesuffix("_fwd")
    if name.endswith("_bwd"):
        name = name.removesuffix("_bwd") + "_backward"
    return OTHERS.get(name, name)


@cache
def results():
    """The documents, each with its path in the repository, the newest first."""
    found = []
    for path in sorted(ROOT.glob("benchmarks/results/*/*.json")):
        with open(path, encoding="utf-8") as file:
            found.append((path.relative_to(ROOT).as_posix(), json.load(file)))
    return sorted(found, key=lambda x: x[1]["date"], reverse=True)


def newest(names):
    """Of each suite of these names, on each card and arch, the path, document and rows of the files
    whose figures are shown."""
    commits, shown = {}, []
    for path, document in results():
        for suite in dict.fromkeys(x["suite"] for x in document["rows"]):
            if name_of(suite) not in names:
                continue
            where = document["machine"]["device"], document["arch"], suite
            if commits.setdefault(where, document["commit"]) == document["commit"]:
                rows = [x for x in document["rows"] if x["suite"] == suite]
                shown.append((path, document, rows))
    return sorted(shown, key=lambda x: x[1]["arch"], reverse=True)


def digits(x):
    """Three significant ones."""
    return f"{x:.0f}" if x >= 100 else f"{x:.1f}" if x >= 10 else f"{x:.2f}"


def rate(row):
    """TFLOP/s, or TB/s where bytes are what counts."""
    done = row["flops"] or row.get("bytes")
    return digits(done / row["ms"] / 1e9) if done else "-"


def table(path, document, rows):
    """As lines of reStructuredText."""
    cases = {}
    for x in rows:
        cases.setdefault((x["case"], x["dtype"]), {})[x["impl"]] = x
    cases = {name: x for name, x in cases.items() if "tk" in x}
    peers = sorted({impl for x in cases.values() for impl in x} - {"tk", "copy"})
    copies = ["copy"] if any("copy" in x for x in cases.values()) else []
    unit = "TFLOP/s" if any(x["tk"]["flops"] for x in cases.values()) else "TB/s"
    yield f"{document['machine']['device']}, code of ``{document['arch']}``, {rows[0]['suite']},"
    yield f"{document['date'][:10]}, commit ``{document['commit'][:7]}`` (``{path}``):"
    yield ""
    yield ".. list-table::"
    yield "   :header-rows: 1"
    yield ""
    head = ["of a copy"] * len(copies) + [f"times {x}" for x in peers]
    lines = [["case", "type", "µs", unit, *head]]
    for (name, dtype), x in cases.items():
        ratios = [digits(x[p]["ms"] / x["tk"]["ms"]) if p in x else "-" for p in copies + peers]
        lines.append([f"``{name}``", dtype, digits(x["tk"]["ms"] * 1e3), rate(x["tk"]), *ratios])
    for first, *cells in lines:
        yield f"   * - {first}"
        yield from (f"     - {cell}" for cell in cells)
    yield ""


def tables(op, folder, functions=()):
    """All of an op's and of the functions of tk_ops.torch that it stands behind, as lines; where
    there are none, that there are none. `folder` is the op's in tests/ops."""
    shown = newest({op, *(f"torch.{x}" for x in functions)})
    if not shown:
        yield f"There is no figure of it: no file of ``benchmarks/results`` has one of {op} by"
        yield f"itself. ``tests/ops/{folder}/sizes.txt`` has the cases that ``tk_bench`` measures."
        return
    yield "Medians. *of a copy*: the time of a copy of as many bytes by TK's; *times*: a peer's"
    yield "time by TK's. :doc:`README </README>` says how they were taken."
    yield ""
    for found in shown:
        yield from table(*found)
