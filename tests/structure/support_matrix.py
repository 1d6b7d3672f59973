#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What .ci/support_matrix takes in, what it refuses, and which results it calls old:
tests/structure/support_matrix.py <scratch folder> <ctest>

A small repository of its own in the scratch folder holds a copy of the script, two tests, and the sources
that they are made of; ctest runs programs of a line of shell.
"""
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
SCRIPT, RECORD = ".ci/support_matrix", ".ci/results/support_matrix.txt"
FILES = {
    RECORD: "",
    "README.md": "# Matrix\n<!-- made by .ci/support_matrix -->\n<!-- end -->\n",
    "ops/ops.cmake": "tk_op(0 gemm gemm)\ntk_op(1 norm norm)\n",
    "ops/norm/norm.cpp": '#include "core/rows.hpp"\n',
    "ops/norm/norm.hpp": "",
    "ops/gemm/gemm.cpp": '#include "ops/norm/norm.hpp"\n',
    "core/rows.hpp": "#include TK_CHIP(tune / rows.hpp)\n",
    "core/load.hpp": "#include TK_BACKEND(copy.hpp)\n#include TK_VENDOR(runtime.hpp)\n",
    "core/other.hpp": "",
    "backends/sm_90/copy.hpp": "",
    "backends/sm_90/tune/rows.hpp": "",
    "backends/hip/copy.hpp": "",
    "backends/emulator/hip/runtime.hpp": "",
    "tests/contract/load.cpp": '#include "core/load.hpp"\n',
    "tests/ops/norm/sizes.cpp": '#include "ops/tk_ops.h"\n',
    "tests/ops/gemm/sizes.cpp": '#include "ops/tk_ops.h"\n',
}
# A program, what it says or does, and its line of results.txt.
PROGRAMS = (
    ("contract.load.0", "echo contract.load: 7 of 9 cases; echo contract.far: 5 cases", "contract.load.0 0 12"),
    ("ops.norm.sizes", "echo 3 cases; exit 1", "ops.norm.sizes 1 3"),
    ("ops.norm.refusals", "kill -SEGV $$", "ops.norm.refusals 1 0"),
    ("compile.ops.CLUSTER", "echo -- refused", "compile.ops.CLUSTER 0 refused"),
    ("core.divisor", "true", None),
)
QUIET = {name: value for name, value in os.environ.items() if not name.startswith(("GIT_", "TK_TEST_LEVEL"))} | {
    "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull, "PYTHONDONTWRITEBYTECODE": "1",
    **{f"GIT_{who}_{what}": "tk@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}}


def run(*command, cwd, **more):
    return subprocess.run([str(x) for x in command], cwd=cwd, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, env=QUIET | more)


def git(tree, *words):
    done = run("git", *words, cwd=tree)
    assert done.returncode == 0, done.stdout
    return done.stdout.strip()


def commit(tree):
    git(tree, "add", "-A")
    git(tree, "commit", "-qm", "change", "--allow-empty")
    return git(tree, "rev-parse", "--short=7", "HEAD")


def matrix(tree, *words, says="", **more):
    """Whether the script passes; what it says holds `says`."""
    done = run(tree / SCRIPT, *words, cwd=tree, **more)
    assert says in done.stdout, f"{' '.join(words)}: not '{says}' but '{done.stdout}'"
    assert "Traceback" not in done.stdout, done.stdout
    return done.returncode == 0


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def make_tree(tree):
    shutil.rmtree(tree, ignore_errors=True)
    for name, text in FILES.items():
        write(tree / name, text)
    shutil.copy2(ROOT / SCRIPT, tree / SCRIPT)
    git(tree, "init", "-q")
    return commit(tree)


def collected(tree, build, ctest, programs, says="", **more):
    """Whether the results of programs are taken in, which ctest has run."""
    shutil.rmtree(build, ignore_errors=True)
    for name, line, *_ in programs:  # a file each: ctest's log has the command, too
        write(build / name, line + "\n")
    write(build / "CTestTestfile.cmake", "".join(f"add_test({name} sh {name})\n" for name, *_ in programs))
    run(ctest, "--test-dir", build, cwd=tree)
    return matrix(tree, "collect", str(build), says=says, **more)


def try_collect(tree, build, ctest):
    results = build / "results.txt"
    lines = sorted(line for _, _, line in PROGRAMS if line)
    assert collected(tree, build, ctest, PROGRAMS, "contract: 12 cases in 1 programs")
    assert results.read_text() == "# level default\n" + "".join(f"{line}\n" for line in lines), results.read_text()
    assert collected(tree, build, ctest, PROGRAMS, TK_TEST_LEVEL="full")
    assert results.read_text().startswith("# level full\n")
    assert not collected(tree, build, ctest, [("contract.load", "echo passed")],
                         "FAILED: contract.load does not say how many cases it ran")
    assert not collected(tree, build, ctest, [("contract.new", "echo 3 cases"), *PROGRAMS],
                         "FAILED: contract.new belongs to no row of .ci/support_matrix, nor to its OUTSIDE")
    assert not collected(tree, build, ctest, [], "FAILED: no test ran in")


def words_of(tree, title):
    """What the table says in a row, by chip."""
    rows = [[word.strip() for word in line.split("|")[1:-1]] for line in (tree / "README.md").read_text().splitlines()
            if line.startswith("|")]
    return dict(zip((chip.strip("`") for chip in rows[0]), next(row for row in rows if row[0] == title)))


def try_add(tree, work):
    results = work / "results.txt"

    def added(text, *words, arch="sm_90a", kind="card", says=""):
        results.write_text(text)
        return matrix(tree, "add", str(results), "--arch", arch, "--kind", kind, *words, says=says)

    assert not added("contract.new 0 5\n", says="contract.new belongs to no row of the table, nor to OUTSIDE")
    assert not added("contract.load 0 0\n", says="contract.load does not say how many cases it ran")
    assert not added("contract.load 0\n", says="'contract.load 0' is not 3 words")
    assert not added("contract.load 0 5\n", kind="compiled", says="contract.load is no result of kind compiled")
    assert not added("libtk_ops.norm 0 5\n", says="libtk_ops.norm is no result of kind card")
    assert not added("contract.load 0 5\n", "--commit", "0123abc", says="'0123abc' is no commit of this history")
    head = git(tree, "rev-parse", "--short=7", "HEAD")
    assert not added("contract.load 0 5\n", "--commit", f"{head}+", says=f"{head}+: built with changes")
    (tree / "core/other.hpp").write_text("// changed\n")
    assert not added("contract.load 0 5\n", says=f"{head}+: built with changes")
    git(tree, "checkout", "-q", "core/other.hpp")
    assert not (tree / RECORD).read_text()

    assert added("# level default\ncontract.load 0 5\nops.norm.sizes 0 7\nops.gemm.sizes 0 2\ncore.divisor 0 0\n")
    assert added("# level full\nops.norm.sizes 1 7\n", "--commit", head, kind="emulated")
    assert added("compile.ops.CLUSTER 0 refused\ncontract.load 0 1200\n", "--commit", head, arch="gfx942",
                 kind="emulated")
    lines = (tree / RECORD).read_text().splitlines()
    for line in (f"sm_90a card contract.load 0 5 {head} card", f"sm_90a emulated ops.norm.sizes 1 7 {head} full",
                 f"gfx942 emulated contract.load 0 1200 {head}"):
        assert line in lines, f"{line} in {lines}"
    assert not any("core.divisor" in line for line in lines)
    assert words_of(tree, "loads")["sm_90a"] == "runs" and words_of(tree, "loads")["gfx942"] == "emulated"
    assert words_of(tree, "norm")["sm_90a"] == "runs, emulated: FAILS"
    assert words_of(tree, "clusters of blocks")["gfx942"] == "refuses"
    assert words_of(tree, "contract cases emulated")["gfx942"] == "1,200"
    assert words_of(tree, "loads")["host"] == "-"
    assert matrix(tree, "check")


ROWS = (("loads", "sm_90a"), ("loads", "gfx942"), ("norm", "sm_90a"), ("gemm", "sm_90a"))
# A source, and those of ROWS that are old once it has changed.
AGES = (
    ("core/other.hpp", ""), ("tests/contract/load.cpp", ""), ("core/load.hpp", "01"), ("core/rows.hpp", "23"),
    ("ops/norm/norm.cpp", "23"), ("ops/norm/new.hpp", "23"), ("ops/gemm/gemm.cpp", "3"),
    ("backends/sm_90/copy.hpp", "0"), ("backends/sm_90/tune/rows.hpp", "23"), ("backends/hip/copy.hpp", "1"),
    ("backends/emulator/hip/runtime.hpp", "1"), ("backends/emulator/sm_90/runtime.hpp", ""),
)


def try_ages(tree):
    commit(tree)
    fresh = (tree / "README.md").read_text()
    for name, old in AGES:
        before = (tree / name).read_text() if (tree / name).exists() else None
        write(tree / name, (before or "") + "// changed\n")
        assert matrix(tree, "check") == (not old), f"check after a change of {name}"
        assert matrix(tree, "renew")
        for i, (title, arch) in enumerate(ROWS):
            word = words_of(tree, title)[arch]
            assert ("before" in word) == (str(i) in old), f"{name} has changed: {title} of {arch} says '{word}'"
        commit(tree)
        assert matrix(tree, "check"), f"{name}: the table changes with a commit of the same code"
        if before is None:
            (tree / name).unlink()
        else:
            (tree / name).write_text(before)
        assert matrix(tree, "renew") and (tree / "README.md").read_text() == fresh, f"{name} is as it was"
        commit(tree)

    record = (tree / RECORD).read_text()
    head = git(tree, "rev-parse", "--short=7", "HEAD")
    for known, word in ((head, "runs"), (f"{head}+", "ran before"), ("0123abc", "ran before")):
        (tree / RECORD).write_text(f"sm_90a card contract.load 0 5 {known}\n")
        assert matrix(tree, "renew") and words_of(tree, "loads")["sm_90a"] == word, f"a result of {known}"
    (tree / RECORD).write_text(record)


def try_without_history(tree, work):
    """The table of old results holds in a shallow clone and outside of git, but not that of other ones."""
    (tree / "core/load.hpp").write_text("// changed\n")
    assert matrix(tree, "renew") and words_of(tree, "loads")["sm_90a"] == "ran before"
    commit(tree)
    shallow, archive = work / "shallow", work / "archive"
    for to in (shallow, archive):
        shutil.rmtree(to, ignore_errors=True)
    git(work, "clone", "-q", "--depth=1", tree.as_uri(), shallow)
    shutil.copytree(tree, archive, ignore=shutil.ignore_patterns(".git"))
    (work / "results.txt").write_text("contract.load 0 5\n")
    for there in (shallow, archive):
        assert matrix(there, "check"), there
        assert not matrix(there, "renew", says="git has no whole history here")
        assert not matrix(there, "add", str(work / "results.txt"), "--arch", "host", "--kind", "card",
                          says="git has no whole history here")
        record = there / RECORD
        record.write_text(record.read_text().replace("load 0 5", "load 1 5"))
        assert not matrix(there, "check"), f"{there}: a failed program is not in the table"


def main():
    work, ctest = Path(sys.argv[1]).resolve(), sys.argv[2]
    tree = work / "tree"
    make_tree(tree)
    try_collect(tree, work / "build", ctest)
    try_add(tree, work)
    try_ages(tree)
    try_without_history(tree, work)
    print(f"support_matrix: {len(PROGRAMS)} programs, {len(AGES)} changes")


main()
