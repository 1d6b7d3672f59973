#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""./tk test counts and names what failed, and a sample has each op once, with other numbers elsewhere:
tests/structure/run_tests.py <scratch folder> <ctest>

A tree with copies of ./tk and of .ci/support_matrix alone. cmake is a script that leaves each preset's tests,
of a line of shell, or does not build; ctest is the one given.
"""
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
CMAKE = """#!/bin/sh
case $1 in
  --version) echo cmake version 3.31.6 ;;
  --preset) mkdir -p build/$2 && cp presets/$2/* build/$2/ ;;
  --build) [ ! -e $2/broken ] ;;
esac
"""
GOOD = {"contract.load.0": "echo contract.load: 5 cases", "core.divisor": "true"}
BAD = {"ops.norm.sizes": "exit 1", "ops.norm.refusals": "kill -SEGV $$", "contract.load.0": "echo 5 cases",
       "contract.store.0": "echo 5 cases"}
# What ./tk test is given, and its last lines.
RUNS = (
    (("host",), {"host": GOOD}, ["2 passed, 0 failed"]),
    (("host", "emulate-sm_80", "emulate-sm_90a", "emulate-gfx942"),
     {"host": BAD, "emulate-sm_80": None, "emulate-sm_90a": {}, "emulate-gfx942": GOOD},
     ["failed:",
      "  host: ops.norm.sizes (Failed)",
      "  host: ops.norm.refusals (SEGFAULT)",
      "  emulate-sm_80: the build",
      "  emulate-sm_90a: ctest, which ran no test",
      "  emulate-sm_90a: no test ran in build/emulate-sm_90a",
      "4 passed, 5 failed"]),
    (("emulate-sm_90a", "emulate-gfx942"),
     {"emulate-sm_90a": {"contract.load.0": "true", "contract.new": "echo 2 cases"},
      "emulate-gfx942": GOOD | {"core.divisor": "exit 1"}},
     ["failed:",
      "  emulate-sm_90a: contract.load.0 does not say how many cases it ran",
      "  emulate-sm_90a: contract.new belongs to no row of .ci/support_matrix, nor to its OUTSIDE",
      "  emulate-gfx942: core.divisor (Failed)",
      "3 passed, 3 failed"]),
)


def write_program(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)


def make_tree(tree, ctest):
    shutil.rmtree(tree, ignore_errors=True)
    for name in ("tk", ".ci/support_matrix", "ops/ops.cmake"):
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, tree / name)
    write_program(tree / "bin/cmake", CMAKE)
    write_program(tree / "bin/dpkg-query", "#!/bin/sh\necho install ok installed\n")
    (tree / "bin/ctest").symlink_to(ctest)


def leave_tests(tree, presets):
    """For each preset the lines of its tests; None: it does not build."""
    for folder in ("presets", "build"):
        shutil.rmtree(tree / folder, ignore_errors=True)
    for preset, tests in presets.items():
        folder = tree / "presets" / preset
        for name, line in ({"broken": ""} if tests is None else tests).items():
            write_program(folder / name, f"#!/bin/sh\n{line}\n")
        write_program(folder / "CTestTestfile.cmake",
                      "".join(f"add_test({name} sh {name})\n" for name in tests or ()))


def check_samples(tree, env):
    """By the numbers of a sample: eight in a row have each op on the host and on each chip."""
    ops = dict(re.findall(r"^tk_op\(\d+ (\w+) (\w+)\)", (tree / "ops/ops.cmake").read_text(), re.MULTILINE))
    seen = set()  # preset and folder
    for number in range(1000, 1008):
        said = subprocess.run([tree / "tk", "ops"], text=True, env=env | {"TK_SAMPLE": str(number)},
                              stdout=subprocess.PIPE, check=True).stdout
        presets = dict(line.split(" ") for line in said.splitlines())
        assert list(presets)[:2] == ["host", "emulate-sm_90a"] and len(presets) == 3, said
        folders = [ops[op] for line in presets.values() for op in line.split(";")]
        assert sorted(folders) == sorted(set(ops.values())), f"TK_SAMPLE={number}:\n{said}"
        seen |= {(preset, ops[op]) for preset, line in presets.items() for op in line.split(";")}
    for preset in ("host", "emulate-sm_80", "emulate-sm_90a", "emulate-gfx942"):
        unseen = [folder for folder in ops.values() if (preset, folder) not in seen]
        assert not unseen, f"no sample of eight has {unseen} on {preset}"


def main():
    tree, ctest = Path(sys.argv[1]).resolve() / "tree", Path(shutil.which(sys.argv[2]))
    make_tree(tree, ctest)
    env = {name: value for name, value in os.environ.items() if not name.startswith("TK_")}
    env["PATH"] = f"{tree / 'bin'}:{env['PATH']}"
    for arguments, presets, last in RUNS:
        leave_tests(tree, presets)
        done = subprocess.run([tree / "tk", "test", *arguments], text=True, env=env, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        said = done.stdout.splitlines()
        assert said[-len(last):] == last, f"./tk test {' '.join(arguments)} says:\n{done.stdout}"
        assert ("failed:" in said) == ("failed:" in last), done.stdout
        assert bool(done.returncode) == (len(last) > 1), f"exit status {done.returncode}:\n{done.stdout}"
    check_samples(tree, env)
    print(f"run_tests: {len(RUNS)} runs")


main()
