#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Takes each barrier, wait, fence, commit and swizzle out of a backend, and each barrier, wait and
release out of core/ and ops/, one at a time, and finds the test that notices:
tests/mutation/run.py [options] <preset>...
tests/mutation/run.py --check

--check builds and runs nothing: it names each line of a backend, core/ or ops/ that orders something
and is in no edit of mutations.json, and each entry there of a line that is gone.

Presets are build folders with the contract tests built; those of one arch (emulate-sm_90a and
emulate-sm_90a-tsan) look at the same mutations, one after the other. The mutations of an arch are
  - the lines of its files that call an intrinsic which asks the emulator's omitted(): left out at run
    time (backends/emulator/omission.hpp), under every program that reaches the line;
  - the lines that mutations.json names: changed in a copy of the file, its programs compiled again,
    or, where it names "instances" of an op (ops/<folder>/<op>.cmake), these, and its programs linked.
Programs run in the order in turn first, then under random schedules, until one fails; it must pass
as it is, in the same schedule. Survivors must be explained in mutations.json, and what is
explained there, for runs of no other presets than it names, must survive. Ends with "N passed,
N failed"; fails as well where more than one mutation and more than 5 % survive.
"""
import argparse
import concurrent.futures
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import namedtuple
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
HERE = Path(__file__).resolve().parent
NEEDED = 0.95
# Lines that order something through a function of the backend: each needs an edit in mutations.json.
WRAPPED = re.compile(
    r"\bsync\(\);|_barriers\.init\(|\bb\.init\(|>::init\(|\b(await_free|is_free)\(\)")

# The same of core/ and ops/.
ORDERING = re.compile(
    r"\bsync\(\);|\.(arrive|await|pass)\(\);|\brelease\w*\((c, a)?\);|\brelease_loaded\("
    r"|^wait<\w+>\(|\brejoin<.*>\(c\);|\b(signal|wait_for|count_up|wait_for_count)\([\w.]*, ")

Line = namedtuple("Line", "file number text nth")  # the nth line of that text in the file
Run = namedtuple("Run", "preset program seed seconds")
Catch = namedtuple("Catch", "run case how")


def lines_of(file):
    seen = {}
    for number, text in enumerate((ROOT / file).read_text().splitlines(), 1):
        text = text.strip()
        seen[text] = seen.get(text, 0) + 1
        yield Line(file, number, text, seen[text])


def ordering_intrinsics():
    """Names of the emulator's intrinsics that can be left out."""
    names = set()
    for path in (ROOT / "backends/emulator").glob("*/*.hpp"):
        for function in path.read_text().split("TK_DEVICE")[1:]:
            if "omitted(" in function:
                names.add(re.match(r"[^(]*?(\w+)\(", function)[1])
    return names


def calls_of_ordering_intrinsics():
    names = "|".join(sorted(ordering_intrinsics()))
    return re.compile(rf"\b(?:ptx|gcn)::({names})(?:<.*>)?\(")


# ---- what mutations.json has
def sources():
    """All of backends/, core/ and ops/, but for the emulator."""
    found = sorted(p.relative_to(ROOT) for folder in ("backends", "core", "ops")
                   for p in (ROOT / folder).rglob("*.[ch]pp"))
    return [str(p) for p in found if "emulator" not in p.parts]


def place(entry):
    return entry["file"], entry["line"], entry.get("nth", 1)


def gaps(files, listed):
    """What mutations.json lacks for these files, and what it has that is not in them."""
    calls = calls_of_ordering_intrinsics()
    edits, there = {place(e) for e in listed["edits"]}, set()
    for file in files:
        for line in lines_of(file):
            at = line.file, line.text, line.nth
            there.add(at)
            orders = WRAPPED if file.startswith("backends/") else ORDERING
            code = not line.text.startswith("//") and "TK_DEVICE" not in line.text
            if orders.search(line.text) and code and at not in edits and not calls.search(line.text):
                yield f"{file}:{line.number}: '{line.text}' has no edit in mutations.json (number {line.nth})"
    for entry in listed["edits"] + listed["exceptions"]:
        file, text, nth = place(entry)
        if place(entry) not in there and (file in files or not (ROOT / file).exists()):
            yield f"mutations.json: {file} has no line '{text}' (number {nth} of that text)"
        elif (change := entry.get("change", [text])[0]) not in text:
            yield f"mutations.json: '{text}' of {file} has no '{change}'"


# ---- programs
def environment(seed, **more):
    return dict(os.environ, TK_EMULATE_SEED=str(seed), TK_EMULATE_THREADS="1",
                TSAN_OPTIONS="halt_on_error=1", OMP_PROC_BIND="false", OMP_WAIT_POLICY="passive", **more)


def reason(output, status):
    """The test case that failed, and what it says in a few words."""
    case = re.search(r"^TEST CASE:\s+(.*?)\s*$", output, re.MULTILINE)
    for pattern in (r"emulated device: (.*)", r"ThreadSanitizer: (data race)", r"ERROR: (.*)",
                    r"(cases did not run)"):
        if found := re.search(pattern, output):
            what = re.sub(r"0x[0-9a-f]+", "...", found[1]).strip()
            break
    else:
        what = f"signal {-status}" if status < 0 else "fails"
    return case[1] if case else "", what


def run_program(path, seed, limit, **more):
    """None if the program passes, else (case, what it says). `limit` is of CPU time, because the
    machine may be busy; one that sleeps for ten times as long hangs as well."""
    limit = int(limit)
    command = ["sh", "-c", f'ulimit -t {limit}; exec "$0" "$@"', path, "--abort-after=1"]
    try:
        done = subprocess.run(command, cwd=ROOT, env=environment(seed, **more), timeout=10 * limit,
                              capture_output=True, text=True, errors="replace")
    except subprocess.TimeoutExpired:
        return "", "hangs"
    if done.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
        return "", "hangs"
    output = done.stdout + done.stderr
    if done.returncode == 0 and "cases did not run" not in output:
        return None
    return reason(output, done.returncode)


class Arch:
    def __init__(self, presets, seeds, jobs, listed):
        self.presets = presets
        self.name = re.sub(r"-tsan$", "", presets[0])
        self.seeds, self.jobs = seeds, jobs
        self.runs, self.reaches, self.passes, self.needed = [], {}, set(), None
        self.of_ops = {p for e in listed if "instances" in e and self.mutates(e) for p in e["programs"]}

    def mutates(self, edit):
        return self.name in edit.get("presets", [self.name])

    def programs(self, preset):
        folder = ROOT / "build" / preset / "bin"
        if self.needed:
            return sorted(p for p in self.needed if (folder / p).exists())
        found = sorted(p.name for p in folder.glob("co[nr]*.*"))
        if not found:
            sys.exit(f"no contract tests in {folder}")
        return found + sorted(p for p in self.of_ops if (folder / p).exists())

    def path(self, preset, program):
        return ROOT / "build" / preset / "bin" / program

    def schedules(self, preset):
        if "emulate" not in preset:
            return [0]
        return range(2 if "tsan" in preset else self.seeds + 1)

    def files(self):
        """Of backends/, core/ and ops/, what the tests and the library are compiled from."""
        deps = subprocess.run(["ninja", "-C", ROOT / "build" / self.presets[0], "-t", "deps"],
                              capture_output=True, text=True, check=True).stdout
        names = re.findall(r"^ +(?:\S*?/)?((?:backends|core|ops)/\S+)$", deps, re.MULTILINE)
        return sorted(n for n in set(names) if "emulator/" not in n and (ROOT / n).exists())

    def look_at(self, program):
        """Runs a program as it is: its time, and the sites it reaches."""
        with tempfile.NamedTemporaryFile("r") as sites:
            begin = time.monotonic()
            # Sites are for programs that show what each intrinsic is for: those of ops take long.
            asked = {} if program in self.of_ops else {"TK_EMULATE_SITES": sites.name}
            self.must_pass(Run(self.presets[0], program, 0, 300), **asked)
            seconds = time.monotonic() - begin
            reached = {re.sub(r".*?(backends|core)/", r"\1/", s.strip()) for s in sites}
        return program, seconds, reached

    def look(self):
        programs = {preset: self.programs(preset) for preset in self.presets}
        with concurrent.futures.ThreadPoolExecutor(self.jobs) as pool:
            for program, seconds, reached in pool.map(self.look_at, programs[self.presets[0]]):
                for preset in self.presets:
                    if program in programs[preset]:
                        slower = 50 if "tsan" in preset else 1
                        self.runs += [Run(preset, program, seed, slower * seconds)
                                      for seed in self.schedules(preset)]
                for site in reached:
                    self.reaches.setdefault(site, set()).add(program)
        order = {preset: n for n, preset in enumerate(self.presets)}
        self.runs.sort(key=lambda r: (order[r.preset], r.seed, r.seconds))

    def must_pass(self, run, **more):
        if run[:3] in self.passes:
            return
        if found := run_program(self.path(run.preset, run.program), run.seed,
                                20 + 10 * run.seconds, **more):
            sys.exit(f"{run.preset}/{run.program} with seed {run.seed} fails as it is: {found}")
        self.passes.add(run[:3])

    def caught_by(self, runs, path, **more):
        """The first of the runs that fails, though it passes as it is."""
        for run in runs:
            if found := run_program(path(run), run.seed, 20 + 10 * run.seconds, **more):
                self.must_pass(run)
                return Catch(run, *found)
        return None

    # ---- the two kinds of mutation
    def omit(self, line):
        site = f"{line.file}:{line.number}"
        programs = self.reaches.get(site, ())
        return self.caught_by((r for r in self.runs if r.program in programs),
                              lambda r: self.path(r.preset, r.program), TK_EMULATE_OMIT=site)

    def compile(self, preset, program, folder, instances):
        """Compiles the program, or these instances that it links, with `folder` before the sources."""
        build = ROOT / "build" / preset
        commands = subprocess.run(["ninja", "-C", build, "-t", "commands", f"bin/{program}"],
                                  capture_output=True, text=True, check=True).stdout
        *compiling, linking = commands.splitlines()
        wanted = [f"/instances/{name}.cpp.o" for name in instances] or [f"/{program}.dir/"]
        compiling = [c for c in compiling if " -c " in c and any(w in c for w in wanted)]
        if len(compiling) < len(wanted):
            sys.exit(f"{program} is not made of {wanted}")
        objects = {re.search(r" -o (\S+)", c)[1]: f"{folder}/{n}.o" for n, c in enumerate(compiling)}
        if instances:  # an object comes before the library's of the same names
            linking = linking.replace(f"-o bin/{program}", f"{' '.join(objects)} -o bin/{program}")
        for command in (*compiling, linking):
            for name, changed in objects.items():
                command = command.replace(name, changed)
            command = command.replace(f"-I{ROOT}", f"-I{folder} -I{ROOT}", 1)
            # A header compiled before has the sources as they are; its copy is read as text.
            command = re.sub(r"(?<=-include )\S+/cmake_pch\.hxx",
                             lambda found: shutil.copy(found[0], folder), command)
            # Compiling takes longer than running; what a change leaves unused is no fault.
            command = command.replace(" -O3 ", " -O1 ").replace(" -Werror ", " ")
            command = command.replace(f"-o bin/{program}", f"-o {folder}/{program}")
            done = subprocess.run(command, shell=True, cwd=build, capture_output=True, text=True)
            if done.returncode:
                sys.exit(f"{program} does not compile with what mutations.json changes:\n{done.stderr}")

    def edit(self, line, edit):
        with tempfile.TemporaryDirectory() as folder:
            copy = Path(folder) / line.file
            copy.parent.mkdir(parents=True)
            text = (ROOT / line.file).read_text().splitlines()
            changed = edit.get("change", [line.text, ""])
            text[line.number - 1] = text[line.number - 1].replace(*changed)
            copy.write_text("\n".join(text) + "\n")
            for preset in self.presets:
                runs = [r for r in self.runs if r.preset == preset and r.program in edit["programs"]]
                for program in {r.program for r in runs}:
                    self.compile(preset, program, folder, edit.get("instances", []))
                if found := self.caught_by(runs, lambda r: f"{folder}/{r.program}"):
                    return found
        return None

    # ---- all of them
    def mutations(self, listed):
        """Yields (line, what is done, edit or None)."""
        files = self.files()
        if wrong := list(gaps(files, listed)):
            sys.exit("\n".join(wrong))
        calls, edits = calls_of_ordering_intrinsics(), {}
        for edit in listed["edits"]:
            edits.setdefault(place(edit), []).append(edit)
        for file in files:
            for line in lines_of(file):
                for edit in edits.get((line.file, line.text, line.nth), []):
                    if self.mutates(edit):
                        yield line, edit.get("what", "removed"), edit
                if calls.search(line.text) and not file.endswith("intrinsics.hpp"):
                    yield line, "left out", None


def explained(exceptions, arch, line, what):
    for e in exceptions:
        if place(e) == (line.file, line.text, line.nth) and \
                e.get("what", what) == what and set(arch.presets) <= set(e["presets"]):
            return e
    return None


def described(run):
    way = "" if run.seed == 0 else f", seed {run.seed}"
    return run.program + (", ThreadSanitizer" if "tsan" in run.preset else "") + way


def test(arch, listed, only):
    """The table of one arch: rows of (line, what, catch, reason)."""
    mutations = [m for m in arch.mutations(listed) if not only or only in f"{m[0].file}:{m[0].number}"]
    if only and all(edit for _, _, edit in mutations):  # which programs reach a line, all must say
        arch.needed = {p for _, _, edit in mutations for p in edit["programs"]}
    arch.look()
    built = {run.program for run in arch.runs if run.preset == arch.presets[0]}
    for line, _, edit in mutations:
        if edit and (missing := set(edit["programs"]) - built):
            sys.exit(f"{line.file}:{line.number} needs {sorted(missing)}, not built in {arch.presets[0]}")
    known = {f"{line.file}:{line.number}" for line, _, edit in mutations if not edit}
    if not only and (strange := set(arch.reaches) - known):
        sys.exit(f"reached, but not found in the sources: {sorted(strange)}")

    def row(mutation):
        line, what, edit = mutation
        catch = arch.edit(line, edit) if edit else arch.omit(line)
        word = f"{catch.how} [{described(catch.run)}]" if catch else "SURVIVES"
        print(f"{arch.name}: {line.file}:{line.number} {what}: {word}", flush=True)
        return line, what, catch, explained(listed["exceptions"], arch, line, what)

    with concurrent.futures.ThreadPoolExecutor(arch.jobs) as pool:
        return list(pool.map(row, mutations))


def table(arch, rows):
    caught = [r for r in rows if r[2]]
    yield f"# {arch.name}: {len(caught)} of {len(rows)} mutations are caught"
    yield ""
    yield "Made by `tests/mutation/run.py --record " + " ".join(arch.presets) + "`."
    yield ""
    yield "| line | mutation | caught by | which says |"
    yield "|---|---|---|---|"
    for line, what, catch, excuse in rows:
        text = line.text.split("  //")[0].replace("|", "\\|")
        by = described(catch.run) if catch else "-"
        how = (f"{catch.how} ({catch.case})" if catch.case else catch.how) if catch else \
            "survives: " + (excuse["reason"] if excuse else "NOT EXPLAINED")
        yield f"| {line.file}:{line.number} `{text}` | {what} | {by} | {how.replace('|', '/')} |"


def merged(old, new):
    """The table `old` with the rows of `new` in the place of those of the same lines and mutations."""
    def rows_of(table):
        for row in table.splitlines()[6:]:
            place, number, text, what = re.match(r"\| (.*?):(\d+) (`.*?`) \| (.*?) \|", row).groups()
            yield (place, text, what), (place, int(number)), row

    changed = list(rows_of(new))
    keys = {key for key, _, _ in changed}
    rows = sorted([r for r in rows_of(old) if r[0] not in keys] + changed, key=lambda r: r[1])
    head = old.splitlines()[:6]
    caught = sum(" | - | survives" not in row for _, _, row in rows)
    head[0] = re.sub(r"\d+ of \d+", f"{caught} of {len(rows)}", head[0])
    return "\n".join(head + [row for _, _, row in rows]) + "\n"


def main():
    parse = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parse.add_argument("presets", nargs="*")
    parse.add_argument("--check", action="store_true", help="only compare mutations.json with the sources")
    parse.add_argument("--seeds", type=int, default=20, help="random schedules of each program")
    parse.add_argument("--jobs", type=int, default=os.cpu_count())
    parse.add_argument("--only", help="mutations of lines whose file:line contains this")
    parse.add_argument("--record", action="store_true",
                       help="write .ci/results/mutation/<arch>.md, or with --only its rows")
    asked = parse.parse_args()
    listed = json.loads((HERE / "mutations.json").read_text())
    if asked.check:
        wrong = list(gaps(sources(), listed))
        print(*wrong, sep="\n", end="\n" if wrong else "")
        return len(wrong) > 0
    if not asked.presets:
        parse.error("which presets?")
    arches = {}
    for preset in asked.presets:
        arches.setdefault(re.sub(r"-tsan$", "", preset), []).append(preset)

    passed = failed = 0
    for presets in arches.values():
        arch = Arch(presets, asked.seeds, asked.jobs, listed["edits"])
        rows = test(arch, listed, asked.only)
        text = "\n".join(table(arch, rows)) + "\n"
        if asked.record:
            path = ROOT / ".ci/results/mutation" / f"{arch.name}.md"
            path.write_text(merged(path.read_text(), text) if asked.only and path.exists() else text)
        print(text)
        caught = sum(bool(r[2]) for r in rows)
        wrong = [r for r in rows if bool(r[2]) == bool(r[3])]
        for line, what, catch, _ in wrong:
            print(f"FAILED: {line.file}:{line.number} {what}:",
                  "is caught, and mutations.json explains why not" if catch else "survives")
        short = len(rows) - caught > max(1, (1 - NEEDED) * len(rows))
        if short:
            print(f"FAILED: {arch.name}: {caught} of {len(rows)} are less than {NEEDED:.0%}")
        passed += len(rows) - len(wrong)
        failed += len(wrong) + short
    print(f"{passed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
