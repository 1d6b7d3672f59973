#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs the benchmarks' cases through libtk_ops and, in the same process, through its peers.

Peers are what PyTorch brings: the vendor's libraries, its own kernels, torch.compile's; and
FlashAttention-3 and -4, quack and Liger where they are installed; beside an op that moves bytes, a
copy of as many. Each suite's are in <folder of the op>/torch_cases.py. Inputs are random normal.
Each result is first checked against float64; then the calls take turns, each behind an overwritten
L2 cache, and queued before the device comes to it. The JSON has the form that `tk_bench run --json`
writes; `share` is the rate at which a case's bytes moved, each once, as a share of the measured
copy rate.
Exit status: 0, or 1 if a result of tk was wrong or missing.

usage: peers.py --lib libtk_ops.so [--json FILE] [--suite NAME] [--filter REGEX] [--repeats N]
                [--apart SECONDS] [--repeat run|row] [--peers REGEX] [--check whole|sample]
                [--flash3 FILE]
"""
import argparse
import contextlib
import ctypes
import datetime
import json
import math
import os
import platform
import re
import statistics
import subprocess
import sys
import time
import warnings

import torch

sys.dont_write_bytecode = True  # the source folder stays as it is

from tk_binding import DL_CPU, tk_library
from torch_cases import built_in_cases, implementation, read_cases, suites, unavailable

REST = 0.5  # seconds
NOISY = 0.05  # the spread of the calls, in parts of their median, from which a ratio is marked
LONGEST_WAIT = 2e-3  # seconds that the card waits for a call to be queued
CLOCK_RATE = 2e9  # at least that of the card, in Hz


class clock:
    """Times calls in ms: device events behind an overwritten cache, or the CPU's clock."""

    def __init__(self, device, apart=0.0):
        self.device, self.apart = device, apart
        self.queueing = 0.0  # seconds, of the slowest implementation of a case
        # larger than any L2
        self.flush = torch.empty(512 << 20, dtype=torch.uint8, device=device) \
            if device != "cpu" else None

    def time(self, x):
        with x.context():
            if self.device == "cpu":
                start = time.perf_counter()
                x.call()
                return (time.perf_counter() - start) * 1e3
            start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            time.sleep(self.apart)
            for _ in range(5 if self.apart else 1):  # who has slept is slow to queue a call
                self.flush.zero_()
            # several launches from Python take longer than the flush
            torch.cuda._sleep(int(min(1.5 * self.queueing, LONGEST_WAIT) * CLOCK_RATE))
            start.record()
            before = time.perf_counter()
            x.call()
            self.queueing = max(self.queueing, time.perf_counter() - before)
            end.record()
            end.synchronize()
            return start.elapsed_time(end)

    def time_all(self, implementations, repeats):
        """The calls take turns, in alternating order, so that drift falls on all alike. Before
        them the card rests: what it drew while results were checked lowers its clocks after."""
        ms = {x.name: [] for x in implementations}
        self.queueing = 0.0
        if self.device != "cpu":
            torch.cuda.synchronize()
            time.sleep(REST)
        for x in implementations:
            for _ in range(3 if self.device != "cpu" else 1):
                self.time(x)
        for i in range(repeats):
            for x in implementations if i % 2 == 0 else reversed(implementations):
                ms[x.name].append(self.time(x))
        return ms

    def copy_rate(self):
        """Bytes read and written in a second by a copy of 1 GiB (CPU: 256 MiB)."""
        size = 1 << (30 if self.device != "cpu" else 28)
        source, target = (torch.zeros(size, dtype=torch.uint8, device=self.device)
                          for _ in range(2))
        copy = implementation("copy", lambda: target.copy_(source))
        return 2 * size / (statistics.median(self.time_all([copy], 10)["copy"]) * 1e-3)


def spoil(outputs):
    """What no result is."""
    for x in outputs:
        x.fill_(math.nan if x.is_floating_point() else -1)


def run_tk(case, library):
    """The checked implementation of tk: right, and the same bits twice. Raises if it is not."""
    outputs = case.outputs()
    tk = case.tk(library)
    spoil(outputs)
    tk.call()
    first = [x.clone() for x in outputs]
    error, limit = case.compare(tk.results(None))
    if not error <= limit:
        raise RuntimeError(f"wrong: error {error:.3e}, limit {limit:.3e}")
    spoil(outputs)
    tk.call()
    if not all(torch.equal(x, y) for x, y in zip(outputs, first)):
        raise RuntimeError("not repeatable: two calls gave different bits")
    return tk, error


def run_peer(case, peer):
    """A peer's error; raises with the reason if it cannot run or computes something else."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            with peer.context():
                returned = peer.call()
        except unavailable:
            raise
        except Exception as failure:  # packages have their own
            reasons = [str(w.message).split(" (Triggered")[0] for w in caught]
            said = (str(failure) or repr(failure)).splitlines()[0]
            raise RuntimeError(" ".join([said] + reasons)) from None
    error, limit = case.compare(peer.results(returned))
    if not error <= 10 * limit:
        raise RuntimeError(f"another result: error {error:.3e}, limit {limit:.3e}")
    return error


def copy_of(case, device):
    """Moves as many bytes as the case, half of them read: what the card does at its size."""
    source, target = (torch.ones(max(1, int(case.bytes) // 2), dtype=torch.uint8, device=device)
                      for _ in range(2))
    return implementation("copy", lambda: target.copy_(source))


def run_case(line, library, timer, repeats, copy_rate, notes, peers, sample):
    torch.manual_seed(1)
    case = suites()[line["suite"]](line, timer.device)
    case.sample = sample
    ready, errors = [], {}
    try:
        tk, errors["tk"] = run_tk(case, library)
        ready.append(tk)
    except RuntimeError as failure:
        notes.append(f"FAILED {line['suite']} {line['case']}: {failure}")
    for peer in case.peers(library):
        if not peers.search(peer.name):
            continue
        try:
            errors[peer.name] = run_peer(case, peer)
            ready.append(peer)
        except unavailable as failure:
            if (note := f"no {peer.name}: {failure}") not in notes:
                notes.append(note)
        except RuntimeError as failure:
            notes.append(f"no {peer.name} in {line['suite']} {line['case']}: {failure}")
    if not case.flops and peers.search("copy"):
        ready.append(copy_of(case, timer.device))
        errors["copy"] = 0.0
    rows = []
    for name, ms in timer.time_all(ready, repeats).items():
        low, median, high = statistics.quantiles(ms, n=4, method="inclusive")
        rows.append({"suite": line["suite"], "case": line["case"], "impl": name,
                     "dtype": case.dtype, "repeat": library.repeat, "ms": median,
                     "ms_min": min(ms), "ms_iqr": high - low,
                     "flops": case.flops, "bytes": case.bytes, "error": errors[name],
                     "share": case.bytes / (median * 1e-3) / copy_rate})
    return rows


def rate(row):
    """Of operations, or of bytes where those are what counts, with three significant digits."""
    number, unit = (row["flops"], "FLOP/s") if row["flops"] else (row["bytes"], "B/s")
    number /= row["ms"] * 1e-3
    size, prefix = next(((s, p) for s, p in ((1e12, "T"), (1e9, "G")) if number >= s), (1e6, "M"))
    digits = 2 - math.floor(math.log10(number / size)) if number else 0
    return f"{number / size:.{max(0, digits)}f} {prefix}{unit}"


def noisy(row):
    return row["ms_iqr"] > NOISY * row["ms"]


def show(line, rows):
    """One line of the table: tk, then each peer with tk's speed as a multiple of the peer's."""
    own = next((r for r in rows if r["impl"] == "tk"), None)
    text = f"{line['suite']:16s} {line['case']:33s}" + ("" if own else " tk -")
    for r in rows:
        text += f"  {r['impl']} {rate(r):>12s} {100 * r['ms_iqr'] / r['ms']:2.0f}%"
        if own and r is not own:
            text += f" x{r['ms'] / own['ms']:5.3f}" + ("~" if noisy(r) or noisy(own) else "")
    print(text, flush=True)


def show_summary(rows, notes):
    ms = {(r["suite"], r["case"], r["impl"]): r["ms"] for r in rows}
    ratios = {}
    for (suite, case, impl), value in ms.items():
        if impl != "tk" and (suite, case, "tk") in ms:
            ratios.setdefault((suite, impl), []).append(value / ms[suite, case, "tk"])
    for (suite, impl), values in ratios.items():
        print(f"{suite}: tk is {statistics.geometric_mean(values):.3f} x {impl} in the geometric "
              f"mean of {len(values)} cases, {min(values):.3f} to {max(values):.3f}")
    for note in notes:
        print(note[:300])


def describe(library, device):
    machine = {"library": library.version, "torch": torch.__version__}
    if device == "cpu":
        machine.update(device=platform.processor() or platform.machine(), cores=os.cpu_count())
        return machine
    p = torch.cuda.get_device_properties(0)
    machine.update(device=p.name, multiprocessors=p.multi_processor_count,
                   memory_bytes=p.total_memory, l2_bytes=getattr(p, "L2_cache_size", 0),
                   cuda=torch.version.cuda, cudnn=torch.backends.cudnn.version())
    with contextlib.suppress(OSError, subprocess.SubprocessError):
        query = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader", "--id=0"]
        machine["driver"] = subprocess.run(query, capture_output=True, text=True, check=True,
                                           timeout=20).stdout.strip()
    return machine


def commit():
    here = os.path.dirname(os.path.abspath(__file__))
    with contextlib.suppress(OSError, subprocess.SubprocessError):
        return subprocess.run(["git", "-C", here, "rev-parse", "HEAD"], capture_output=True,
                              text=True, check=True, timeout=20).stdout.strip()
    return "unknown"


def load_operators(path):
    """A library that registers operators with PyTorch, and the CUDA runtime that lies beside it."""
    runtime = os.path.join(os.path.dirname(os.path.abspath(path)), "libcudart.so.12")
    if os.path.exists(runtime):
        ctypes.CDLL(runtime, mode=ctypes.RTLD_GLOBAL)
    torch.ops.load_library(os.path.abspath(path))


def arguments():
    p = argparse.ArgumentParser(description="tk beside its peers of PyTorch, checked and timed")
    p.add_argument("--lib", required=True, help="path of libtk_ops.so")
    p.add_argument("--json", help="file to write, anew after each case")
    p.add_argument("--suite", choices=list(suites()))
    p.add_argument("--filter", default="", help="regular expression, searched in 'suite case'")
    p.add_argument("--quick", action="store_true", help="the small cases for CPUs")
    p.add_argument("--repeats", type=int, default=20)
    p.add_argument("--apart", type=float, default=0.0, metavar="SECONDS",
                   help="the card rests before each call: rates below its power limit")
    p.add_argument("--cases", help="a file to read in place of the built-in cases")
    p.add_argument("--repeat", choices=["run", "row"], default="run",
                   help="row: a row's bits do not depend on the other rows")
    p.add_argument("--peers", default="", metavar="REGEX",
                   help="the peers to run, searched in their names; ^$ is none")
    p.add_argument("--check", choices=["whole", "sample"], default="whole",
                   help="sample: of long cases a part is compared with the oracle")
    p.add_argument("--flash3", metavar="FILE",
                   help="library with the operators of FlashAttention-3, loaded with a "
                        "libcudart.so.12 beside it; default: asks the installed packages")
    p.add_argument("--commit", default=None, help="recorded in the JSON; default: asks git")
    given = p.parse_args()
    if given.repeats < 3:
        p.error(f"--repeats is {given.repeats}; a median and its spread take at least 3")
    if given.json:
        there = os.path.exists(given.json)
        try:
            with open(given.json, "a", encoding="utf-8"):
                pass
        except OSError as failure:
            p.error(f"--json: cannot write {given.json}: {failure.strerror}")
        if not there:
            os.remove(given.json)
    return given


def main():
    given = arguments()
    library = tk_library(given.lib, given.repeat)
    device = "cpu" if library.device_type == DL_CPU else "cuda"
    pattern = re.compile(given.filter)
    chosen = [given.suite] if given.suite else list(suites())  # others are tk_bench's alone
    lines = [c for c in (read_cases(given.cases) if given.cases else built_in_cases())
             if c["quick"] == given.quick and c["suite"] in chosen
             and pattern.search(f"{c['suite']} {c['case']}")]
    if not lines:
        sys.exit(f"no case matches '{given.filter}' in the suites {', '.join(chosen)}")
    timer = clock(device, given.apart)
    copy_rate = timer.copy_rate()
    document = {"machine": describe(library, device), "arch": library.version.split()[1],
                "commit": given.commit or commit(),
                "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
                "seconds_apart": given.apart, "check": given.check,
                "ceilings": {"copy_bytes_per_s": copy_rate}, "rows": []}
    print(f"{document['machine']['device']}, {library.version}, torch {torch.__version__}, copy "
          f"{copy_rate / 1e12:.3g} TB/s; repeat {given.repeat}\n"
          f"rates of medians of {given.repeats}, and the distance of the quartiles; xR: tk / peer; ~: one of the two is over {NOISY:.0%}")
    notes, peers = [], re.compile(given.peers)
    if given.flash3:
        try:
            load_operators(given.flash3)
        except (OSError, RuntimeError) as failure:
            notes.append(f"no operators of {given.flash3}: {failure}")
    for i, line in enumerate(lines):
        if sys.stderr.isatty():
            print(f"\r\033[K{i + 1}/{len(lines)} {line['case']}\r", end="", file=sys.stderr)
        rows = run_case(line, library, timer, given.repeats, copy_rate, notes, peers,
                        given.check == "sample")
        show(line, rows)
        document["rows"] += rows
        if given.json:
            with open(given.json, "w", encoding="utf-8") as out:
                json.dump(document, out, indent=1)
    show_summary(document["rows"], notes)
    sys.exit(1 if any(note.startswith("FAILED") for note in notes) else 0)


if __name__ == "__main__":
    with torch.inference_mode():
        main()
