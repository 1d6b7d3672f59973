#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The main loops of the kernels in objects compiled for an AMD chip, which needs no card.

A loop is what a backward branch closes; shown is, of each kernel, the one with the most MFMA that
holds no smaller loop with MFMA, and in it the shortest way through all MFMA, which leaves out what
is done rarely, and loads that stand in loops of their own. Cycles are those of one SIMD where
nothing waits: MFMA as many as its multiplications take at the chip's peak, a vector instruction 4,
a transcendental one 16; one wave issues them one after another, several overlap them. LDS and
memory: bytes of a wave. Waves: of a SIMD, as registers and LDS allow.

usage: main_loop.py [--llvm FOLDER] OBJECT...
       e.g. main_loop.py build/gfx942/CMakeFiles/tk_ops_objects.dir/instances/*_128.cpp.o
"""
import argparse
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

MFMA = re.compile(r"v_s?mfmac?_f32_(\d+)x(\d+)x(\d+)(?:_(\d+)b)?_")
MULTIPLICATIONS = {"gfx90a": 256, "gfx942": 256, "gfx950": 512}  # of bf16, in a SIMD's cycle
LDS_BYTES = {"gfx90a": 64 << 10, "gfx942": 64 << 10, "gfx950": 160 << 10}  # of a compute unit
REGISTERS, WAVES, SIMDS, LANES = 512, 8, 4, 64  # registers of a lane, most waves of a SIMD
SLOW = ("v_exp_", "v_log_", "v_rcp_", "v_rsq_", "v_sqrt_")
CODE = re.compile(r"\s+(\S.*?)\s*// ([0-9A-F]+):(?:.*<.+\+0x([0-9a-f]+)>)?")  # ... // at: words <f+offset>


def run(*command, **options):
    return subprocess.run(command, check=True, capture_output=True, text=True, **options).stdout


def code_objects(path, objdump):
    """(chip, file) of each device's part of an object, in a folder that lives as long as the loop's turn."""
    with tempfile.TemporaryDirectory() as folder:
        copy = shutil.copy(path, folder)
        run(objdump, "--offloading", copy, cwd=folder)
        for part in sorted(glob.glob(copy + ".*amdgcn*")):
            yield re.search(r"gfx\w+", os.path.basename(part).split("amdhsa")[1])[0], part


def resources(part, readelf):
    """{kernel: its vector registers, AGPRs among them, LDS bytes, lanes, spilled bytes}"""
    found, kernel = {}, {}
    for line in run(readelf, "--notes", part).splitlines():
        key, _, value = line.strip().lstrip("- ").partition(":")
        if key == ".agpr_count":
            kernel = {}
        kernel[key] = value.strip()
        if key == ".vgpr_spill_count":
            found[kernel[".name"]] = kernel
    return found


def functions(part, objdump):
    """{name: [(address, instruction, target of a branch or None)]}"""
    found, body = {}, None
    for line in run(objdump, "-d", "--no-show-raw-insn", part).splitlines():
        if head := re.fullmatch(r"([0-9a-f]+) <(.+)>:", line):
            body = found.setdefault(head[2], [])
            begin = int(head[1], 16)
        elif body is not None and (code := CODE.match(line)):
            body.append((int(code[2], 16), code[1], begin + int(code[3], 16) if code[3] else None))
    return found


def main_loop(body):
    """The loop's instructions, as `body` has them, or none."""
    def products(first, last):
        return sum(1 for address, text, _ in body if first <= address <= last and MFMA.match(text))

    loops = [(target, address) for address, text, target in body
             if "branch" in text and target is not None and target <= address]
    loops = [loop for loop in loops if products(*loop)]
    inner = [a for a in loops if not any(b != a and a[0] <= b[0] and b[1] <= a[1] for b in loops)]
    if not inner:
        return []
    first, last = max(inner, key=lambda loop: products(*loop))
    return [x for x in body if first <= x[0] <= last]


def shortest_round(loop):
    """The fewest instructions that lead through all MFMA, in the order of their addresses, and back;
    the whole loop where they don't run in that order."""
    place = {address: i for i, (address, _, _) in enumerate(loop)}

    def next_of(i):
        _, text, target = loop[i]
        after = [] if text.startswith("s_branch") or i + 1 == len(loop) else [i + 1]
        return after + ([place[target]] if target in place else [])

    def way(start, end):
        """From after `start` up to and with `end`."""
        before, border = {}, [start]
        while border and end not in before:
            found = []
            for i in border:
                for j in next_of(i):
                    if j not in before:
                        before[j] = i
                        found.append(j)
            border = found
        if end not in before:
            return None
        steps = [end]
        while before[steps[-1]] != start:
            steps.append(before[steps[-1]])
        return steps[::-1]

    stops = [i for i, (_, text, _) in enumerate(loop) if MFMA.match(text)]
    ways = [way(a, b) for a, b in zip(stops, stops[1:] + stops[:1])]
    if None in ways:
        return [text for _, text, _ in loop]
    return [loop[i][1] for one in ways for i in one]


def moved_bytes(text):
    """Of a lane, by a load or store of LDS or memory."""
    name = text.split()[0]
    pairs = 2 if "read2" in name or "write2" in name else 1
    width = re.search(r"b(\d+)", name)
    if width:
        return pairs * int(width[1]) // 8
    words = re.search(r"dword(?:x(\d))?", name)
    return 4 * int(words[1] or 1) if words else 2 if "short" in name or "u16" in name else 4


def describe(chip, kernel, whole, loop):
    count = {"mfma": 0, "vector": 0, "slow": 0, "scalar": 0, "wait": 0, "lds": 0, "memory": 0}
    lds = memory = products = 0
    for text in loop:
        name = text.split()[0]
        if shape := MFMA.match(name):
            count["mfma"] += 1
            products += int(shape[1]) * int(shape[2]) * int(shape[3]) * int(shape[4] or 1)
        elif name.startswith("v_"):
            count["slow" if name.startswith(SLOW) else "vector"] += 1
        elif name.startswith("ds_"):
            count["lds"] += 1
            lds += LANES * moved_bytes(text)
        elif name.startswith(("global_", "buffer_", "flat_")):
            count["memory"] += 1
            memory += LANES * moved_bytes(text)
        elif name.startswith(("s_wait", "s_barrier", "s_nop", "s_sleep")):
            count["wait"] += 1
        else:
            count["scalar"] += 1
    cycles = products / MULTIPLICATIONS[chip]
    other = 4 * (count["vector"] + count["lds"] + count["memory"]) + 16 * count["slow"]
    registers = int(kernel[".vgpr_count"])
    lanes = int(kernel[".max_flat_workgroup_size"])
    blocks = max(1, LDS_BYTES[chip] // max(1, int(kernel[".group_segment_fixed_size"])))
    by_lds = blocks * lanes / LANES / SIMDS
    waves = min(WAVES, REGISTERS // (-(-registers // 8) * 8), by_lds)
    print(f"  {len(loop)} of {whole} instructions, {100 * count['mfma'] / len(loop):.0f} % MFMA; " +
          ", ".join(f"{name} {n}" for name, n in count.items()))
    print(f"  MFMA {cycles:.0f} cycles, the rest {other}: {100 * cycles / (cycles + other):.0f} % if "
          f"nothing overlaps; LDS {lds / 1024:.1f} KiB, memory {memory / 1024:.1f} KiB")
    print(f"  {registers} registers ({kernel['.agpr_count']} AGPR), {kernel['.vgpr_spill_count']} "
          f"spilled, LDS {kernel['.group_segment_fixed_size']} bytes, {lanes} lanes a block, "
          f"{waves:g} waves a SIMD")


def main():
    p = argparse.ArgumentParser(description="main loops of kernels compiled for AMD chips")
    p.add_argument("--llvm", help="folder of llvm-objdump and llvm-readelf; default: PATH")
    p.add_argument("objects", nargs="+")
    given = p.parse_args()
    objdump, readelf = (shutil.which(name, path=given.llvm) or sys.exit(f"no {name}; --llvm says where it is")
                        for name in ("llvm-objdump", "llvm-readelf"))
    demangle = shutil.which("c++filt") or shutil.which("llvm-cxxfilt", path=given.llvm)
    for path in given.objects:
        for chip, part in code_objects(path, objdump):
            bodies, kernels = functions(part, objdump), resources(part, readelf)
            for name, kernel in kernels.items():
                if loop := main_loop(bodies.get(name, [])):
                    shown = run(demangle, name).strip() if demangle else name
                    print(f"{chip} {shown}")
                    describe(chip, kernel, len(loop), shortest_round(loop))


if __name__ == "__main__":
    main()
