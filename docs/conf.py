# SPDX-License-Identifier: MIT
"""Sphinx's configuration: ./tk docs. autodoc imports build/docs/package, which pages.py makes, and
stands in for what the package itself imports and for its private modules, so that nothing need be
built or installed."""

import inspect
import re
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.dont_write_bytecode = True
PACKAGE = HERE.parent / "build/docs/package"
sys.path[:0] = [str(PACKAGE), str(HERE)]
import pages  # noqa: E402

project = "TK"
copyright = "the authors of TK"
extensions = ["myst_parser", "sphinx.ext.autodoc"]
html_theme = "furo"
html_title = "TK"
html_show_sourcelink = False
root_doc = "index"
exclude_patterns = ["docs/examples", "examples"]
myst_heading_anchors = 3
smartquotes = False
autodoc_mock_imports = [
    "tvm_ffi",
    "numpy",
    "torch",
    "transformers",
    "jax",
    *(
        f"tk_ops.{x.parent.name}.{x.stem}"
        for x in PACKAGE.glob("tk_ops/*/_[!_]*.py")
        if x.stem != "_repeat"  # which has a public class
    ),
]
autodoc_member_order = "bysource"
autodoc_preserve_defaults = True
maximum_signature_line_length = 90
INTERFACE = pages.generate.c_interface()


def notes_of_fields(op):
    """What the header says beside them."""
    said = pages.generate.comments_of_fields(op)
    for field in pages.generate.fields_of(INTERFACE, op):
        if field.name in said:
            yield f":param {field.name}: {pages.escaped(said[field.name])}"


def restructure(app, what, name, object, options, lines):
    """Docstrings are plain words. An op's page has those of its function, but for its fields."""
    op = INTERFACE.ops.get(name.removeprefix("tk_ops."))
    lines[:] = notes_of_fields(op) if op else pages.restructured("\n".join(lines))


def sign(app, what, name, object, options, signature, returned):
    """Tensors are of any type that speaks DLPack; of classes, whose bases are stood in for, what is
    known are the arguments that they name themselves."""
    if what == "class":
        ours = (x for x in object.__mro__ if x.__module__.startswith("tk_ops"))
        made = next((vars(x)["__init__"] for x in ours if "__init__" in vars(x)), None)
        if made is None:
            return "", None
        first, *others = inspect.signature(made).parameters.values()
        return str(inspect.Signature(others)), None
    if what == "function":
        return re.sub(r"\b(typing\.)?Any\b", "Tensor", signature or "()"), None
    return None


def setup(app):
    app.connect("autodoc-process-docstring", restructure)
    app.connect("autodoc-process-signature", sign)
