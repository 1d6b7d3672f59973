# SPDX-License-Identifier: MIT
"""Which of a package's libraries this machine takes: one for each kind of device.

A library stands in lib/<arch>/, as its TK_ARCH, or as emulate-<arch>, a GPU's code that runs on the
CPU. Where there are several of a kind, that of the machine's first card is taken, or of its nearest
ancestor (cmake/TkArch.cmake), and of those for the CPU `host`.
"""

import ctypes
import re
from pathlib import Path

CPU, CUDA, HIP = 1, 2, 10  # DLPack's numbers
NAMES = {CPU: "the CPU", CUDA: "NVIDIA's cards", HIP: "AMD's cards"}


def kind_of(arch):
    return CUDA if arch.startswith("sm_") else HIP if arch.startswith("gfx") else CPU


def nvidia_card():
    """The first card's compute capability, 90 of 9.0, or None. NVML starts no CUDA in this process,
    which may fork yet."""
    try:
        nvml = ctypes.CDLL("libnvidia-ml.so.1")
        card, major, minor = ctypes.c_void_p(), ctypes.c_int(), ctypes.c_int()
        if (
            nvml.nvmlInit_v2() == 0
            and nvml.nvmlDeviceGetHandleByIndex_v2(0, ctypes.byref(card)) == 0
            and nvml.nvmlDeviceGetCudaComputeCapability(
                card, ctypes.byref(major), ctypes.byref(minor)
            )
            == 0
        ):
            return 10 * major.value + minor.value
    except (OSError, AttributeError):
        pass
    return None


def amd_card():
    """The first card's name, gfx942 for instance, or None: the driver's 90402."""
    for path in sorted(Path("/sys/class/kfd/kfd/topology/nodes").glob("*/properties")):
        found = re.search(r"^gfx_target_version (\d+)(\d\d)(\d\d)$", path.read_text(), re.MULTILINE)
        if found and int(found[1]):
            return f"gfx{found[1]}{int(found[2])}{int(found[3]):x}"
    return None


def of_capability(capability):
    """The archs that a card takes, the best first. Blocks of sm_80 want 163 KB of shared memory."""
    has_much = capability in (80, 87) or 90 <= capability < 120
    return (
        ["sm_90a"] * (capability == 90)
        + ["sm_80"] * has_much
        + ["sm_89"] * (capability >= 89)
        + ["sm_86"] * (capability >= 86)
    )


def of_card(kind):
    """What the machine has of a kind, in words, and the archs that it takes, the best first."""
    if kind == CPU:
        return "a CPU", ["host"]
    if kind == CUDA:
        capability = nvidia_card()
        if capability is not None:
            return f"compute capability {capability / 10}", of_capability(capability)
    elif card := amd_card():
        return card, [card]
    return "no card", []


def choose(archs, asked=""):
    """Of the archs that are there those to load, and of kinds of which there is none to load, why.

    asked, which the environment's TK_OPS_ARCH says, are archs with commas between them, of which
    each is then that of its kind. ImportError if it is not there.
    """
    chosen, reasons = {}, {}
    for arch in filter(None, map(str.strip, asked.split(","))):
        if arch not in archs:
            raise ImportError(
                f"tk_ops: TK_OPS_ARCH asks for {arch}, which this package was built without; it has"
                f" {', '.join(sorted(archs))}"
            )
        chosen[kind_of(arch)] = arch
    for kind in {kind_of(x) for x in archs} - {*chosen}:
        those = sorted(x for x in archs if kind_of(x) == kind)
        if len(those) == 1:  # which says itself what it does not run on
            chosen[kind] = those[0]
            continue
        card, takes = of_card(kind)
        found = next((x for x in takes if x in those), None)
        if found:
            chosen[kind] = found
        else:
            reasons[kind] = (
                f"this package has libraries of {', '.join(those)} for {NAMES[kind]}, this machine"
                f" {card}"
            )
    return [chosen[kind] for kind in sorted(chosen)], reasons
