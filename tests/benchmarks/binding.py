# SPDX-License-Identifier: MIT
"""benchmarks/tk_binding.py hands over all that a problem holds: packed attention with every kind of
option, numbers, switches and tensors, is what Python computes with them; without each of them it
is not. So is a norm to fp8. What it or the library refuses, it says. PyTorch is not needed: what the
binding asks of it has a stand-in here.

usage: binding.py LIBRARY, of the host
"""
import ctypes
import math
import os
import random
import struct
import sys
import types

sys.dont_write_bytecode = True
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "benchmarks"))

FORMATS = {"float16": "e", "float32": "f", "int32": "i", "int64": "q", "uint8": "B", "bfloat16": "H",
           "float8_e4m3fn": "B", "float8_e5m2": "B", "bool": "B"}


class array:
    """As much of a tensor as the binding reads: row-major numbers in memory of its own."""

    device = types.SimpleNamespace(index=None)

    def __init__(self, dtype, shape, values=None):
        self.dtype, self.shape = dtype, shape
        self.form = f"{math.prod(shape)}{FORMATS[dtype]}"
        self.memory = ctypes.create_string_buffer(struct.calcsize(self.form) + 64)
        if values is not None:
            struct.pack_into(self.form, self.memory, self.gap(), *values)

    def gap(self):  # to the next address that vectors like
        return -ctypes.addressof(self.memory) % 64

    def data_ptr(self):
        return ctypes.addressof(self.memory) + self.gap()

    def dim(self):
        return len(self.shape)

    def stride(self):
        return [math.prod(self.shape[i + 1:]) for i in range(len(self.shape))]

    def values(self):
        return struct.unpack_from(self.form, self.memory, self.gap())


def zeros(size, dtype, device):
    assert device == "cpu"
    return array(dtype, [size])


sys.modules["torch"] = types.SimpleNamespace(Tensor=array, zeros=zeros, **{x: x for x in FORMATS})
from tk_binding import DL_CPU, tk_library  # noqa: E402

LENGTHS, HQ, HK, D = (5, 12), 2, 1, 8
TOTAL, SCALE = sum(LENGTHS), 0.7
STARTS = [0, LENGTHS[0], TOTAL]
OPTIONS = {"has_window_left": 1, "window_left": 3, "softcap": 1.5, "alibi": [0.2, 0.6],
           "sinks": [0.3, -0.4], "q_starts": STARTS, "k_starts": STARTS}


def reference(q, k, v, options):
    """o and lse of the packed sequences, the causal mask, and those options that are given."""
    o, lse = [0.0] * (TOTAL * HQ * D), [0.0] * (HQ * TOTAL)
    starts = options.get("q_starts", [0, TOTAL])
    for first, last in zip(starts, starts[1:]):
        for i, head in ((i, head) for i in range(first, last) for head in range(HQ)):
            begin = max(first, i - options["window_left"]) if "window_left" in options else first
            scores = []
            for j in range(begin, i + 1):
                t = SCALE * sum(q[(i * HQ + head) * D + c] * k[j * HK * D + c] for c in range(D))
                if "softcap" in options:
                    t = options["softcap"] * math.tanh(t / options["softcap"])
                scores.append(t - options.get("alibi", [0, 0])[head] * (i - j))
            weights = [math.exp(t) for t in scores]
            total = sum(weights)
            if "sinks" in options:
                total += math.exp(options["sinks"][head])
            lse[head * TOTAL + i] = math.log(total)
            for c in range(D):
                o[(i * HQ + head) * D + c] = \
                    sum(p * v[j * HK * D + c] for p, j in zip(weights, range(begin, i + 1))) / total
    return o, lse


def off(x, y):
    return max(abs(a - b) for a, b in zip(x, y))


def refused(kind, sentence, call):
    try:
        call()
    except kind as failure:
        assert sentence in str(failure), f"not '{sentence}' but '{failure}'"
        return
    raise AssertionError(f"not refused: {sentence}")


def from_e4m3(code):
    exponent, fraction = code >> 3 & 15, code & 7
    size = 2.0**(exponent - 7) * (1 + fraction / 8) if exponent else 2.0**-6 * fraction / 8
    return -size if code & 128 else size


def check_norm(library, numbers):
    """RMSNorm to fp8 with scales that are powers of two, and by those that are given."""
    rows, width, eps = 3, 40, 0.5
    x = array("float16", [rows, width], [numbers.gauss(0, 1) for _ in range(rows * width)])
    y, scale = array("float8_e4m3fn", [rows, width]), array("float32", [rows])

    def bind(kind="TK_SCALE_ROW", **operands):
        return library.bind("norm", {"x": x, "y": y, **operands}, "cpu", kind="TK_NORM_RMS", eps=eps,
                            y_scale_kind=kind, power_of_two=int(kind == "TK_SCALE_ROW"))

    def check(scales):
        for i in range(rows):
            row = x.values()[i * width:(i + 1) * width]
            rms = math.sqrt(sum(t * t for t in row) / width + eps)
            for t, code in zip(row, y.values()[i * width:(i + 1) * width]):
                # half a step of e4m3, and half of its least
                want = t / rms / scales[i]
                assert abs(from_e4m3(code) - want) <= abs(want) * 2.0**-4 + 2.0**-10, (t, code)
            yield max(abs(t) for t in row) / rms / 448

    bind(y_scale=scale)()
    for most, s in zip(check(scale.values()), scale.values()):
        assert math.frexp(s)[0] == 0.5 and most <= s < 2 * most, (most, s)
    bind("TK_SCALE_GIVEN", y_scale=array("float32", [1], [0.0625]))()
    assert len(list(check([0.0625] * rows))) == rows
    refused(RuntimeError, "y_scale is NULL", bind)
    return rows * width


def main():
    library = tk_library(sys.argv[1])
    assert library.device_type == DL_CPU
    numbers = random.Random(1)
    q, k, v = (array("float16", [TOTAL, heads, D],
                     [numbers.gauss(0, 1) for _ in range(TOTAL * heads * D)]) for heads in (HQ, HK, HK))
    o, lse = array("float16", [TOTAL, HQ, D]), array("float32", [HQ, TOTAL])

    def bind(options, **more):
        kinds = {"alibi": "float32", "sinks": "float32", "q_starts": "int32", "k_starts": "int32"}
        made = {name: array(kinds[name], [len(x)], x) if name in kinds else x
                for name, x in options.items()}
        return library.bind("attention_forward", {"q": q, "k": k, "v": v, "o": o, "lse": lse}, "cpu",
                            mask="TK_MASK_CAUSAL", scale=SCALE, options={**made, **more}, repeat="TK_REPEAT_ROW")

    bind(OPTIONS)()
    operands = q.values(), k.values(), v.values()
    want_o, want_lse = reference(*operands, OPTIONS)
    # o and the weights are rounded to fp16, whose unit roundoff is 2^-11, at values up to 4
    limit = 2 * 4 * 2.0**-11
    assert off(o.values(), want_o) <= limit, off(o.values(), want_o)
    assert off(lse.values(), want_lse) <= 2.0**-15, off(lse.values(), want_lse)
    for left_out in ("window_left", "softcap", "alibi", "sinks", "q_starts"):
        other = {name: x for name, x in OPTIONS.items() if name != left_out}
        assert off(lse.values(), reference(*operands, other)[1]) > 0.01, left_out

    refused(ValueError, "tk_attention_options has no field window", lambda: bind({**OPTIONS, "window": 3}))
    refused(RuntimeError, "softcap is -1; it must be 0 or from 2^-64 to 2^64",
            lambda: bind({**OPTIONS, "softcap": -1.0}))
    refused(RuntimeError, "max_nq is -1; it must be 0 to", lambda: bind(OPTIONS, max_nq=-1))
    count = len(o.values()) + len(lse.values()) + check_norm(library, numbers)
    print(f"binding: {count} numbers")


main()
