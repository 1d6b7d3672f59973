#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Reads what a library built with -DTK_TIMELINE=ON noted (backends/sm_90/timeline.hpp).

    timeline.py FILE                 the launches in it
    timeline.py FILE N table [B]     launch N, block B: for each warp the mean cycles from one event to
                                     the next, with how often it came, and cycles a task
    timeline.py FILE N list [B W I]  events of warp W from the I-th on, one a line
"""
import collections
import struct
import sys

EVENTS = ["none", "task", "take", "taken", "release", "turn", "turned", "pass", "product", "issued", "wait", "waited",
          "put", "empty", "filling", "done"]


def launches(path):
    """(op, blocks, warps, events a warp, offset of the entries) of each launch."""
    with open(path, "rb") as file:
        while line := file.readline():
            op, blocks, warps, events = line.decode().split()
            at = file.tell()
            yield op, int(blocks), int(warps), int(events), at
            file.seek(at + int(blocks) * int(warps) * int(events) * 8)


def warp_events(path, launch, block, warp):
    """[(clock, event)] of one warp."""
    _, _, warps, events, at = launch
    with open(path, "rb") as file:
        file.seek(at + (block * warps + warp) * events * 8)
        data = struct.unpack("<%dI" % (2 * events), file.read(events * 8))
    return [(data[i], EVENTS[data[i + 1]]) for i in range(0, len(data), 2) if data[i + 1]]


def table(path, launch, block):
    for warp in range(launch[2]):
        noted = warp_events(path, launch, block, warp)
        if len(noted) < 2:
            continue
        spans = collections.defaultdict(list)
        for i in range(1, len(noted)):
            before = noted[i - 2][1] if i > 1 else "-"
            spans[(before, noted[i - 1][1], noted[i][1])].append((noted[i][0] - noted[i - 1][0]) & 0xffffffff)
        total = (noted[-1][0] - noted[0][0]) & 0xffffffff
        tasks = max(1, sum(what == "task" for _, what in noted))
        print("warp %d: %d events, %d cycles, %d tasks, %.0f cycles a task" % (warp, len(noted), total, tasks, total / tasks))
        for (before, start, end), cycles in sorted(spans.items(), key=lambda x: -sum(x[1])):
            cycles.sort()
            print("  %8s, %8s -> %-8s %6d times, mean %7.0f, median %6d, %5.1f %%" %
                  (before, start, end, len(cycles), sum(cycles) / len(cycles), cycles[len(cycles) // 2], 100 * sum(cycles) / total))


def main(arguments):
    if not arguments or arguments[0] in ("-h", "--help"):
        print(__doc__)
        return
    path, every = arguments[0], list(launches(arguments[0]))
    if len(arguments) == 1:
        for i, (op, blocks, *_rest) in enumerate(every):
            print(i, blocks, "blocks", op)
        return
    launch, what = every[int(arguments[1])], arguments[2]
    numbers = [int(x) for x in arguments[3:]] + [0] * 3
    if what == "table":
        table(path, launch, numbers[0])
    else:
        noted = warp_events(path, launch, numbers[0], numbers[1])[numbers[2]:]
        for i in range(1, len(noted)):
            print("%10d %6d %s" % (noted[i][0], (noted[i][0] - noted[i - 1][0]) & 0xffffffff, noted[i][1]))


if __name__ == "__main__":
    main(sys.argv[1:])
