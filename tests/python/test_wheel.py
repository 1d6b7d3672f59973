# SPDX-License-Identifier: MIT
"""The wheel that pip makes of these sources: what is in it, whom it is for, and a call of an op in
an environment that has nothing else of TK. Its library has that op alone, whose objects ccache has
of ./tk python."""

import os
import shutil
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
OP = "topk"
pytestmark = pytest.mark.skipif(
    os.environ.get("TK_TORCH_DEVICE", "cpu") != "cpu",
    reason="a wheel is made where pip has a compiler and an index",
)


def run(*command, **options):
    kept = {key: x for key, x in os.environ.items() if key not in ("PYTHONPATH", "TK_OPS_ARCH")}
    done = subprocess.run(
        command,
        env=kept | options.pop("env", {}),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        **options,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    made, build = tmp_path_factory.mktemp("wheel"), ROOT / "build/wheel"
    shutil.rmtree(build, ignore_errors=True)
    settings = {
        "build-dir": build,
        "cmake.define.TK_OPS": OP,
        "cmake.define.TK_CACHE_DIR": ROOT / "build/.cache",  # Kokkos
        "cmake.define.TK_WERROR": os.environ.get("TK_WERROR", "OFF"),
    }
    run(
        *(sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", made, ROOT),
        *(f"--config-settings={key}={value}" for key, value in settings.items()),
        env={"TK_ARCH": "host", "CCACHE_BASEDIR": str(ROOT), "CCACHE_NOHASHDIR": "1"},
    )
    (path,) = made.iterdir()
    return path


def test_what_is_in_it(wheel):
    """All of the package's sources, what is made of them, the library of the host, and no more."""
    names = {x for x in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in x}
    sources = [x for x in (ROOT / "python/tk_ops").rglob("*") if x.is_file()]
    wanted = {x.relative_to(ROOT / "python").as_posix() for x in sources if x.suffix != ".pyc"}
    made = "_functions.py", "lib/libtk_python.so", "lib/host/libtk_ops.so"
    assert len(sources) > 20 and names == wanted | {f"tk_ops/{x}" for x in made}


def test_whom_it_is_for(wheel):
    """All versions of Python on this kind of machine: its libraries know none, and it says so."""
    name, version, *tags = wheel.stem.split("-")
    platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
    assert (name, tags) == ("tk_ops", ["py3", "none", platform])
    archive = zipfile.ZipFile(wheel)
    said = archive.read(f"tk_ops-{version}.dist-info/WHEEL").decode().splitlines()
    assert f"Tag: py3-none-{platform}" in said and "Root-Is-Purelib: false" in said
    metadata = archive.read(f"tk_ops-{version}.dist-info/METADATA").decode()
    assert "Requires-Dist: apache-tvm-ffi" in metadata
    archive.extractall(wheel.parent / "unpacked")
    for path in (wheel.parent / "unpacked").rglob("*.so"):
        asked = run("nm", "-D", "--undefined-only", path).split()
        assert "memcpy" in {x.partition("@")[0] for x in asked}
        assert not [x for x in asked if x.startswith(("Py", "_Py"))]


def test_a_call(wheel, tmp_path):
    """From an environment of its own, in an empty folder: an example of the documents."""
    venv.create(tmp_path / "venv", with_pip=True)
    python = tmp_path / "venv/bin/python"
    run(python, "-m", "pip", "install", "-q", wheel, "numpy")
    program = "import tk_ops; print(tk_ops.__file__, *tk_ops.libraries)"
    package, *libraries = run(python, "-I", "-c", program, cwd=tmp_path).split()
    inside = str(tmp_path / "venv/lib")
    assert package.startswith(inside) and libraries and all(x.startswith(inside) for x in libraries)
    run(python, "-I", ROOT / f"docs/examples/{OP}.py", cwd=tmp_path)
