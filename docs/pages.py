#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Lays out what Sphinx reads: pages.py OUT writes OUT/source, the documents of this repository and
a page for each op, and OUT/package, tk_ops as autodoc imports it, without its libraries. ./tk docs
calls it.

A page has the words of the op's C header, which its function's docstring has too, the functions of
Python, the examples <op>.py, <op>_torch.py and <op>_jax.py of docs/examples, and figures of
benchmarks/results. docs/guides has pages that are written by hand.
"""

import ast
import re
import shutil
import sys
from itertools import groupby
from pathlib import Path

import figures

ROOT = Path(__file__).resolve().parent.parent
sys.dont_write_bytecode = True
sys.path.append(str(ROOT / "python"))  # behind the package as it is laid out
import generate  # noqa: E402

# The functions of tk_ops.torch that an op stands behind: a function is on the page of its op.
TORCH = {
    "gemm": ["linear", "matmul", "addmm", "baddbmm"],
    "attention_forward": ["attention", "scaled_dot_product_attention"],
    "norm": ["rms_norm", "layer_norm"],
    "softmax": ["softmax"],
    "activation": ["silu", "gelu", "swiglu", "geglu", "reglu"],
    "cross_entropy": ["cross_entropy"],
    "linear_cross_entropy": ["linear_cross_entropy"],
    "rotary": ["rotary"],
    "topk": ["topk", "argmax"],
    "quantise": ["quantise"],
    "add": ["add"],
    "transpose": ["transpose"],
    "embedding": ["embedding"],
    "linear_attention": ["linear_attention"],
    "based": ["based"],
    "hedgehog": ["hedgehog"],
    "conv1d": ["causal_conv1d"],
    "mamba2": ["mamba2"],
    "fft_conv": ["fft_conv", "fft_filter"],
}
# The same of tk_ops.jax: TORCH's, but where they have other names.
JAX = {
    **TORCH,
    "fft_conv": ["fft_conv"],
    "gemm": ["linear", "matmul"],
    "attention_forward": ["attention", "dot_product_attention"],
    "topk": ["top_k", "argmax"],
    "transpose": ["matrix_transpose"],
}
# Sentences about equal bits.
REPEATS = re.compile(
    r"`repeat`|TK_REPEAT|\b[Dd]eterministic\b|run to run|in an order that|\bequal bits\b"
)


# ---- words of headers and docstrings as reStructuredText -----------------------------------------
def escaped(text):
    """Plain words; what stands in backquotes is code."""
    parts = re.split(r"`([^`]+)`", text)
    plain = [re.sub(r"([*`|_\\])", r"\\\1", x) for x in parts]
    return "".join(f"``{x}``" if i % 2 else plain[i] for i, x in enumerate(parts))


def blocks(text):
    """("words" or "lines", text), and after each paragraph ("end", ""): lines are indented."""
    for paragraph in re.split(r"\n\s*\n", text.strip("\n")):
        for indented, lines in groupby(paragraph.split("\n"), lambda line: line.startswith("  ")):
            yield "lines" if indented else "words", "\n".join(lines)
        yield "end", ""


def restructured(text):
    """The same in reStructuredText, as lines."""
    lines = []
    for kind, body in blocks(text):
        if kind == "lines":
            lines += ["::", "", *("  " + x for x in body.split("\n")), ""]
        elif kind == "words":
            lines += [*map(escaped, body.split("\n")), ""]
    return lines


def parted(text):
    """What a header says: its first paragraph, the others, and what of it is about equal bits."""
    formula, rest, repeats = [], [], []
    part = formula
    for kind, body in blocks(text):
        if kind == "end":
            part = rest
            part.append("")
        elif kind == "lines":
            part += body.split("\n")
        else:
            sentences = re.split(r"(?<=\.)\s+", " ".join(body.split()))
            part += [" ".join(x for x in sentences if not REPEATS.search(x))]
            repeats += [x for x in sentences if REPEATS.search(x)]
    return "\n".join(formula), "\n".join(rest), " ".join(repeats)


# ---- pages ---------------------------------------------------------------------------------------
def heading(text, line="-"):
    return ["", text, line * len(text), ""]


def example(name, title):
    if not (ROOT / f"docs/examples/{name}.py").exists():
        return []
    return [
        *heading(title),
        f".. literalinclude:: /docs/examples/{name}.py",
        "   :language: python",
        "   :start-after: SPDX-License-Identifier",
        "",
    ]


def found_in(path, pattern):
    """What a regular expression finds in lines of a file."""
    return re.findall(pattern, path.read_text(encoding="utf-8"), re.MULTILINE)


def included(header, start, end="   :end-before: #ifdef __cplusplus"):
    """A part of a header, by default up to the end of its declarations."""
    return [f".. literalinclude:: /{header}", "   :language: c", f"   :start-at: {start}", end, ""]


def page(op):
    """Of an op, as lines."""
    formula, limits, repeats = parted(generate.plain_comment_of(op))
    yield from [*heading(op.name, "="), *restructured(formula)]
    if limits.strip():
        yield from [*heading("Shapes, types and limits"), *restructured(limits)]
    repeats = repeats or "The same problem gives equal bits from run to run."
    yield from [*heading("Determinism"), *restructured(repeats)]
    yield from ["What ``repeat`` promises is in :doc:`/docs/abi`.", ""]
    yield from [*heading("From Python"), f".. autofunction:: tk_ops.{op.name}", ""]
    yield from example(op.name, "Example")
    if op.name in TORCH:
        yield from heading("In PyTorch")
        yield from ["What holds of all functions is in :doc:`/docs/guides/pytorch`.", ""]
        for name in TORCH[op.name]:
            yield from [f".. autofunction:: tk_ops.torch.{name}", ""]
        yield from example(op.name + "_torch", "Example in PyTorch")
    if op.name in JAX:
        yield from heading("In JAX")
        yield from ["What holds of all functions is in :doc:`/docs/guides/jax`.", ""]
        for name in JAX[op.name]:
            yield from [f".. autofunction:: tk_ops.jax.{name}", ""]
        yield from example(op.name + "_jax", "Example in JAX")
    yield from heading("From C")
    for enum in found_in(ROOT / op.header(), r"^typedef enum (\w+)"):
        yield from included(op.header(), f"typedef enum {enum}", f"   :end-at: }} {enum};")
    yield from included(op.header(), f"typedef struct tk_{op.name}_problem")
    folder = Path(op.header()).parent.name
    yield from [*heading("Figures"), *figures.tables(op.name, folder, TORCH.get(op.name, ()))]


def options_page(header):
    """Of a struct that problems point to."""
    text = (ROOT / header).read_text(encoding="utf-8")
    name = Path(header).stem
    said = re.findall(r"/\*(.*?)\*/", text[: text.index("typedef struct")], re.DOTALL)[-1]
    said = "\n".join(re.sub(r"^ \* ?", "", line) for line in said.splitlines()).strip()
    return [*heading(name, "="), *restructured(said), *included(header, "typedef struct")]


def base_page():
    """Of tk_base.h, whose head holds of every op."""
    text = (ROOT / "ops/tk_base.h").read_text(encoding="utf-8")
    said = re.search(r"/\*(.*?)\*/", text, re.DOTALL)[1].split("\n", 2)[2]
    said = "\n".join(re.sub(r"^ \* ?", "", line) for line in said.splitlines()).strip()
    return [
        *heading("What holds of every op", "="),
        *restructured(said),
        *included("ops/tk_base.h", "typedef enum tk_status"),
    ]


def public(package, name):
    """The public names of tk_ops.<name>, whose __init__.py takes them from the files beside it: the
    functions, and the classes."""
    folder, names, classes = package / name, [], set()
    for part in ast.parse((folder / "__init__.py").read_text(encoding="utf-8")).body:
        if not isinstance(part, ast.ImportFrom):
            continue
        file = ast.parse((folder / f"{part.module}.py").read_text(encoding="utf-8")).body
        classes |= {x.name for x in file if isinstance(x, ast.ClassDef)}
        for x in part.names:
            if x.name == "*":
                names += next(
                    ast.literal_eval(y.value)
                    for y in file
                    if isinstance(y, ast.Assign) and ast.unparse(y.targets) == "__all__"
                )
            elif not x.asname:
                names.append(x.name)
    return [x for x in names if x not in classes], [x for x in names if x in classes]


def package_pages(package):
    """A page for each public module of tk_ops, by its name."""
    lines = [*heading("tk_ops", "="), ".. automodule:: tk_ops", ""]
    lines += [f".. autofunction:: tk_ops.{x}" for x in ("load_library", "workspace_bytes")]
    lines += [".. autodata:: tk_ops.libraries", "   :no-value:", ""]
    for name in found_in(package / "_functions.py", r"^class (\w+)\(enum"):
        lines += [f".. autoclass:: tk_ops.{name}", "   :members:", "   :undoc-members:", ""]
    made = {"tk_ops": lines}
    modules = {x.stem for x in package.iterdir() if x.suffix in ("", ".py") and x.stem[0] != "_"}
    for name in sorted(modules):
        lines = [*heading(f"tk_ops.{name}", "="), f".. automodule:: tk_ops.{name}", ""]
        if name in ("torch", "jax"):
            lines += ["Its functions are on the pages of their ops:", ""]
            for op, functions in (TORCH if name == "torch" else JAX).items():
                lines += [f"- :func:`tk_ops.{name}.{x}`: :doc:`/ops/{op}`" for x in functions]
            lines.append("")
            for x in public(package, name)[1]:
                lines += [f".. autoclass:: tk_ops.{name}.{x}", "   :members:", ""]
        else:
            lines[-1:] = ["   :members:", ""]
        made[f"tk_ops.{name}"] = lines
    return made


def write(path, lines):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def main(out):
    source, package = out / "source", out / "package/tk_ops"
    for made in source, package:
        shutil.rmtree(made, ignore_errors=True)
    shutil.copytree(ROOT / "python/tk_ops", package, ignore=shutil.ignore_patterns("__pycache__"))
    interface = generate.c_interface()
    write(package / "_functions.py", generate.python_source(interface))
    shutil.copytree(ROOT / "docs", source / "docs", ignore=shutil.ignore_patterns("__pycache__"))
    for name in "README.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs/index.rst":
        shutil.copy(ROOT / name, source)
    (source / "docs/index.rst").unlink()
    for included_file in (*ROOT.glob("ops/**/*.h"), ROOT / "examples/python/README.md"):
        copy = source / included_file.relative_to(ROOT)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(included_file, copy)
    for op in interface.ops.values():
        write(source / f"ops/{op.name}.rst", page(op))
    for header in sorted(ROOT.glob("ops/*/*_options.h")):
        write(source / f"ops/{header.stem}.rst", options_page(header.relative_to(ROOT).as_posix()))
    write(source / "ops/tk_base.rst", base_page())
    for name, lines in package_pages(package).items():
        write(source / f"python/{name}.rst", lines)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(Path(sys.argv[1]))
