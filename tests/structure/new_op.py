#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What it costs to add an op, and to change one: tests/structure/new_op.py <scratch folder> [cmake option...]

Makes a copy of this tree in the scratch folder and adds to it a copy of a small op, and of what is in its
folder, under another name, in folders of its own. Then, for the host: one existing file was edited; the
library of both folders builds, and the new op's tests pass; a change inside the new op compiles files of
that op alone; and a library of the new op alone builds, which does not hold the old one, unless the new op
says that it is built of it.
"""
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
OLD, NEW, NUMBER = "rotary", "twin", 900
TESTS = ("accepted", "refusals", "cpp")


def run(*command, cwd, **more):
    done = subprocess.run([str(x) for x in command], cwd=cwd, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, **more)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}:\n{done.stdout[-4000:]}")
    return done.stdout


def renamed(text):
    for old, new in ((OLD, NEW), (OLD.upper(), NEW.upper())):
        text = text.replace(old, new)
    return text


def files_of(tree):
    """The tree's files as git has them, also those not yet committed; where git knows none, all but builds."""
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=tree, text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    if listed.returncode == 0 and listed.stdout:
        return [Path(name) for name in listed.stdout.split("\n") if name and (tree / name).is_file()]
    found = (path.relative_to(tree) for path in tree.rglob("*") if path.is_file())
    return [path for path in found if not re.match(r"build|\.git$|\.cache", path.parts[0])]


def copy_tree(to):
    shutil.rmtree(to, ignore_errors=True)
    for name in files_of(ROOT):
        (to / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, to / name)
    run("git", "init", "-q", cwd=to)
    run("git", "add", "-A", cwd=to)


def add_op(tree):
    """Returns the files made, and those edited."""
    made = []
    for name in files_of(tree):
        if OLD not in name.parts or "results" in name.parts:
            continue
        target = tree / Path(*(renamed(part) for part in name.parts))
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(renamed((tree / name).read_text()))
        made.append(target)
    listed = tree / "ops/ops.cmake"
    text = listed.read_text()
    names = re.findall(rf"^tk_op\(\d+ (\w+) {OLD}\)", text, re.MULTILINE)
    added = (f"tk_op({NUMBER + n} {renamed(name)} {NEW})\n" for n, name in enumerate(names))
    listed.write_text(text + "".join(added))
    changed = run("git", "diff", "--name-only", cwd=tree).split()
    return made, changed


def compiled(log):
    """The sources, of the library and of tests, that ninja compiles."""
    return sorted(set(re.findall(r"Building \w+ object (\S+)\.o\b", log)))


def main():
    work, options = Path(sys.argv[1]).resolve(), sys.argv[2:]
    tree, build = work / "tree", work / "build"
    copy_tree(tree)
    made, edited = add_op(tree)
    print(f"{len(made)} files made, {len(edited)} edited: {' '.join(edited)}")
    if edited != ["ops/ops.cmake"]:
        sys.exit("an op must edit the list of ops, and nothing else")

    shutil.rmtree(build, ignore_errors=True)
    configure = ("cmake", "-S", tree, "-B", build, "-G", "Ninja", "-DTK_ARCH=host", "-DTK_BUILD_BENCHMARKS=OFF",
                 "-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_CXX_FLAGS_RELEASE=-O1 -DNDEBUG", *options)  # timed by nobody
    programs = [f"ops.{NEW}.{name}" for name in TESTS]
    run(*configure, "-DTK_BUILD_TESTS=ON", f"-DTK_OPS={OLD};{NEW}", cwd=tree)
    run("ninja", "tk_ops", *programs, cwd=build)
    for program in programs:
        run(build / "bin" / program, cwd=tree)
    print(f"{' '.join(programs)}: passed")

    for header in (f"ops/{NEW}/{NEW}.hpp", f"ops/{NEW}/problem.hpp", f"ops/{NEW}/run.hpp"):
        path = tree / header
        path.write_text(path.read_text() + "// changed\n")
    again = compiled(run("ninja", "tk_ops", cwd=build))
    others = [name for name in again if f"/{NEW}" not in name]
    print(f"a change of {NEW}'s headers: {len(again)} files are compiled")
    if not again or others:
        sys.exit(f"a change inside an op compiles {others or 'nothing'}")

    run(*configure, "-DTK_BUILD_TESTS=OFF", f"-DTK_OPS={NEW}", cwd=tree)
    run("ninja", "tk_ops", cwd=build)
    exported = run("nm", "-D", "--defined-only", build / "lib/libtk_ops.so", cwd=build)
    if f"tk_{NEW}" not in exported or re.search(rf"\btk_{OLD}\b", exported):
        sys.exit("a library of the new op alone holds another, or does not hold it")
    print(f"TK_OPS={NEW}: a library of that op alone")

    own = tree / f"ops/{NEW}/{NEW}.cmake"
    own.write_text(own.read_text() + f"tk_op_uses({OLD})\n")
    run(*configure, "-DTK_BUILD_TESTS=OFF", f"-DTK_OPS={NEW}", cwd=tree)
    listed = (build / "generated/ops/tk_op_list.hpp").read_text()
    if OLD.upper() not in listed or NEW.upper() not in listed:
        sys.exit(f"an op that {NEW} is built of is not in its library: {listed}")
    print(f"TK_OPS={NEW}, built of {OLD}: both")


main()
