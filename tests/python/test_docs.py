# SPDX-License-Identifier: MIT
"""The documents' examples run, and README's Python, and what they assert is true; every op, and
every public name of tk_ops.torch and tk_ops.jax, has a page and an example. ./tk docs builds the
pages (docs/pages.py)."""

import contextlib
import os
import re
import runpy
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
DEVICE = os.environ.get("TK_TORCH_DEVICE", "cpu")
DOCS = ROOT / "docs"
EXAMPLES = sorted((DOCS / "examples").glob("*.py"))
GUIDES = sorted((DOCS / "examples/guides").glob("*.py"))
sys.dont_write_bytecode = True
sys.path.insert(0, str(DOCS))
import figures  # noqa: E402
import pages  # noqa: E402

OPS = pages.generate.c_interface().ops
FRAMEWORKS = {"torch": pages.TORCH, "jax": pages.JAX}


def read(path):
    return path.read_text(encoding="utf-8")


@contextlib.contextmanager
def framework_of(text):
    """What code of a document wants around it; a skip where that is missing."""
    if "import jax" in text:
        jax = pytest.importorskip("jax")
        pytest.importorskip("jax_tvm_ffi")
        jax.config.update("jax_platforms", os.environ.get("TK_JAX_DEVICE", "cpu"))
        with jax.enable_x64(False):  # which test_jax.py wants
            yield
        return
    if "import torch" in text:
        torch = pytest.importorskip("torch")
        if "import transformers" in text:
            pytest.importorskip("transformers")
        if '"cuda"' in text and DEVICE != "cuda":
            pytest.skip("it is a card's")
        torch.set_default_device(DEVICE)
        torch.manual_seed(1)
    elif DEVICE == "cpu":
        pytest.importorskip("numpy").random.seed(1)
    else:
        pytest.skip("NumPy's arrays are no GPU's")
    yield


@pytest.mark.parametrize("path", EXAMPLES + GUIDES, ids=lambda path: path.stem)
def test_example(path):
    text = read(path)
    assert "\nassert " in text or "\n    assert " in text, "an example that checks nothing"
    with framework_of(text):
        runpy.run_path(str(path))


def python_of(readme):
    """Of each section that has blocks of Python their text."""
    found = {}
    for section in re.split("^## ", readme, flags=re.MULTILINE)[1:]:
        if blocks := re.findall("^```python\n(.*?)^```$", section, re.MULTILINE | re.DOTALL):
            found[section.partition("\n")[0]] = "\n".join(blocks)
    return found


def has_gradients(gradients):
    return gradients and all(abs(x).max() > 0 and (x == x).all() for x in gradients)


# What has been computed when a section's blocks have run.
COMPUTED = {
    "Three lines of Python": lambda found: (abs(found["y"] - 1) < 1e-3).all(),
    "In PyTorch": lambda found: has_gradients([x.grad for x in found["block"].parameters()]),
    "In JAX": lambda found: has_gradients([found["gradients"]]),
}


@pytest.mark.parametrize("section", COMPUTED)
def test_readme(section, tmp_path):
    """Its Python runs as it is printed, the blocks of a section in one namespace."""
    sections = python_of(read(ROOT / "README.md"))
    assert sections.keys() == COMPUTED.keys()
    if DEVICE != "cpu" and "torch.compile" in sections[section]:
        pytest.skip("PyTorch 2.11 does not compile unflatten under a default device")
    path = tmp_path / "readme.py"
    path.write_text(sections[section], encoding="utf-8")
    with framework_of(sections[section]):
        assert COMPUTED[section](runpy.run_path(str(path)))


def test_each_example_belongs_to_an_op():
    names = {x.stem for x in EXAMPLES}
    assert names >= set(OPS)
    assert {re.sub("_(torch|jax)$", "", x) for x in names} == set(OPS)
    for framework, paged in FRAMEWORKS.items():
        those = {x.removesuffix(f"_{framework}") for x in names if x.endswith(framework)}
        assert those == set(paged)


def test_each_guide_is_listed_and_each_of_its_examples_shown():
    guides = sorted((DOCS / "guides").glob("*.md"))
    listed = re.findall(r"docs/guides/(\w+)$", read(DOCS / "index.rst"), re.MULTILINE)
    assert sorted(listed) == [x.stem for x in guides]
    text = "".join(map(read, guides))
    shown = re.findall(r"^```{literalinclude} /docs/examples/guides/(\w+)\.py$", text, re.MULTILINE)
    assert sorted(shown) == [x.stem for x in GUIDES]
    assert text.count("```{include} /examples/python/README.md") == 2


@pytest.fixture(scope="module")
def laid_out(tmp_path_factory):
    """What Sphinx reads."""
    out = tmp_path_factory.mktemp("docs")
    pages.main(out)
    return out


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_each_public_name_is_on_a_page_and_in_an_example(framework, laid_out):
    """A new function wants a place in TORCH or JAX of docs/pages.py, and a call in an example."""
    functions, classes = pages.public(laid_out / "package/tk_ops", framework)
    text = "".join(map(read, sorted((laid_out / "source").rglob("*.rst"))))
    paged = re.findall(rf"auto(?:function|class):: tk_ops\.{framework}\.(\w+)", text)
    assert len(paged) == len(set(paged))
    for name in sorted({*functions, *classes} - {*paged}):
        pytest.fail(
            f"tk_ops.{framework}.{name} is on no page: add it in docs/pages.py to"
            f" {framework.upper()}, at the op that it calls"
        )
    for name in sorted({*paged} - {*functions, *classes}):
        pytest.fail(
            f"tk_ops.{framework} has no {name}, which docs/pages.py names (JAX has TORCH's lists but"
            " for its own)"
        )
    package = f"import tk_ops.{framework} as tk\n"
    used = "".join(x for x in map(read, EXAMPLES + GUIDES) if package in x)
    for name in functions + classes:
        assert re.search(rf"\btk\.{name}\b", used), (
            f"tk_ops.{framework}.{name} is in no example: call it in"
            f" docs/examples/<op>_{framework}.py"
        )


@pytest.mark.parametrize("name", OPS)
def test_page(name):
    """All words of the header are there, but for spaces, and its parts are parted."""
    page = "\n".join(pages.page(OPS[name])).replace("\\", "")
    said = pages.generate.plain_comment_of(OPS[name]).replace("`", "").split()
    assert sorted(set(said) - set(page.replace("`", "").split())) == []
    for part in "Determinism", "From Python", "Example", "From C", "Figures":
        assert f"\n{part}\n---" in page, part
    assert f"examples/{name}.py" in page
    shown = re.search("Figures\n-+\n\n(There is no figure of it|Medians)", page)
    measured = figures.newest({name, *(f"torch.{x}" for x in pages.TORCH.get(name, ()))})
    assert shown and (shown[1] == "Medians") == bool(measured)
    if not measured:
        assert (ROOT / re.search(r"tests/ops/\w+/sizes.txt", page)[0]).exists()


def test_figures_are_of_the_newest_file():
    suites = {row["suite"] for _, x in figures.results() for row in x["rows"]}
    functions = {f"torch.{x}" for found in pages.TORCH.values() for x in found}
    assert {figures.name_of(x) for x in suites} - set(OPS) - functions == {"ceilings", "demos"}
    for suite in suites:
        dates = {}
        for _, x in figures.results():
            if any(row["suite"] == suite for row in x["rows"]):
                dates.setdefault((x["machine"]["device"], x["arch"]), []).append(x["date"])
        for where, all in dates.items():
            shown = [
                x["date"]
                for _, x, rows in figures.newest({figures.name_of(suite)})
                if rows[0]["suite"] == suite and (x["machine"]["device"], x["arch"]) == where
            ]
            assert max(shown) == max(all)
