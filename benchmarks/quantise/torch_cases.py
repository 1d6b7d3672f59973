# SPDX-License-Identifier: MIT
"""The suite of quantise beside PyTorch's own kernels and torch.compile's, and a copy that moves as
many bytes: the ceiling of what is bound by memory."""
import math

import torch

from torch_cases import TYPES, compiled, deviation, implementation, sampled

FP8 = {"e4m3": torch.float8_e4m3fn, "e5m2": torch.float8_e5m2}
KINDS = {"row": "TK_SCALE_ROW", "1x128": "TK_SCALE_1X128", "128x128": "TK_SCALE_128X128",
         "tensor": "TK_SCALE_TENSOR"}
LEAST = 2.0**-80


class quantise_case:
    def __init__(self, case, device):
        self.rows, self.width = int(case["rows"]), int(case["width"])
        self.by, self.dtype = case.get("by", "row"), case.get("type", "bf16")
        self.fp8, self.device, self.flops = FP8[case.get("to", "e4m3")], device, 0
        self.largest = torch.finfo(self.fp8).max
        self.plain = "torch_cpu" if device == "cpu" else "torch"
        self.x = torch.randn(self.rows, self.width, device=device).to(TYPES[self.dtype])
        self.y = torch.empty(self.rows, self.width, dtype=self.fp8, device=device)
        m, n = (-(-size // 128) for size in (self.rows, self.width))
        sizes = {"row": [self.rows], "1x128": [self.rows, n], "128x128": [m, n], "tensor": [1]}
        self.scale = torch.empty(sizes[self.by], device=device)
        self.bytes = sum(t.numel() * t.element_size() for t in (self.x, self.y, self.scale))

    def tk(self, library):
        operands = {"x": self.x, "y": self.y, "scale": self.scale}
        call = library.bind("quantise", operands, self.device, kind=KINDS[self.by])
        return implementation("tk", call, lambda _: (self.y, self.scale))

    def outputs(self):
        return [self.y, self.scale]

    def blocks(self, x):
        """x as [blocks of rows, rows, blocks of columns, columns], without what is left over."""
        rows, cols = {"row": (1, self.width), "1x128": (1, 128), "128x128": (128, 128),
                      "tensor": (self.rows, self.width)}[self.by]
        if self.rows % rows or self.width % cols:
            raise NotImplementedError("blocks that are not full")
        return x.view(self.rows // rows, rows, self.width // cols, cols)

    def quantised(self, x):
        blocks = self.blocks(x)
        scale = blocks.abs().amax((1, 3), keepdim=True).float().clamp(min=LEAST) / self.largest
        y = (blocks.float() / scale).clamp(-self.largest, self.largest).to(self.fp8)
        return y.view(x.shape), scale.view(self.scale.shape)

    def peers(self, _):
        self.blocks(self.x)
        made = [implementation(self.plain, lambda: self.quantised(self.x))]
        if self.device != "cpu":
            quantised = compiled(self.quantised)
            made.append(implementation("torch_compile", lambda: quantised(self.x)))
            source = torch.empty(self.bytes // 2, dtype=torch.uint8, device=self.device)
            target = torch.empty_like(source)
            made.append(implementation("copy", lambda: target.copy_(source),
                                       lambda _: self.quantised(self.x)))
        return made

    def scales_of(self, rows, scale):
        if self.by == "tensor":
            return scale.expand(len(rows), self.width)
        if self.by == "row":
            return scale[rows][:, None]
        return scale[rows // 128 if self.by == "128x128" else rows].repeat_interleave(
            128, 1)[:, : self.width]

    def compare(self, results):
        """Error and its limit: y scale is x but for the rounding of fp8."""
        y, scale = results
        parts = deviation()
        budget = 2**24 // self.width if self.device == "cpu" else self.rows
        for rows in sampled(self.rows, budget, self.device).split(1024):
            parts.add(y[rows].float() * self.scales_of(rows, scale), self.x[rows].double())
        error, _ = parts.relative()
        finite = y.float().isfinite().all() and scale.isfinite().all()
        return error if finite else math.inf, 2.0**-4 if self.fp8 == FP8["e4m3"] else 2.0**-3


SUITES = {"quantise": quantise_case}
