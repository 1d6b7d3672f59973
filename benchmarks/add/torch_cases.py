# SPDX-License-Identifier: MIT
"""The suite of add beside PyTorch's own add, mul and copy to another type."""
import math

import torch

from torch_cases import TYPES, deviation, implementation, sampled


class add_case:
    def __init__(self, case, device):
        self.rows, self.width = int(case["rows"]), int(case["width"])
        self.what, from_type = case.get("what", "add"), case.get("type", "bf16")
        self.dtype = case.get("y", from_type)
        self.device, self.flops = device, 0
        self.plain = "torch_cpu" if device == "cpu" else "torch"
        self.alpha = 0.5 if self.what == "scale" else 1.0
        pitch = self.width + int(case.get("pad", 0))
        self.a = self.random(self.rows, pitch, TYPES[from_type])[:, : self.width]
        self.b = None
        if self.what == "add":
            rows = 1 if case.get("b") == "row" else self.rows
            self.b = self.random(rows, self.width, TYPES[self.dtype])
        self.y = torch.empty(self.rows, self.width, device=device, dtype=TYPES[self.dtype])
        self.bytes = sum(x.numel() * x.element_size() for x in (self.a, self.b, self.y)
                         if x is not None)

    def random(self, rows, width, dtype):
        return torch.randn(rows, width, device=self.device, dtype=dtype)

    def tk(self, library):
        operands = {"a": self.a, "b": self.b, "y": self.y}
        call = library.bind("add", operands, self.device, alpha=self.alpha,
                            beta=0.0 if self.b is None else 1.0)
        return implementation("tk", call, lambda _: self.y)

    def outputs(self):
        return [self.y]

    def by_torch(self):
        if self.what == "cast":
            return self.y.copy_(self.a)
        if self.what == "scale":
            return torch.mul(self.a, self.alpha, out=self.y)
        return torch.add(self.a, self.b, out=self.y)

    def peers(self, _):
        return [implementation(self.plain, self.by_torch)]

    def compare(self, results):
        """Error and its limit: one rounding, the floor, and that of a sum in fp32."""
        parts = deviation()
        budget = 2**24 // self.width if self.device == "cpu" else self.rows
        for rows in sampled(self.rows, budget, self.device).split(max(1, 2**24 // self.width)):
            expected = self.alpha * self.a[rows].double()
            if self.b is not None:
                expected += (self.b[rows] if len(self.b) > 1 else self.b).double()
            parts.add(results[rows], expected)
        error, floor = parts.relative()
        return error if results.isfinite().all() else math.inf, 1.1 * floor + 2.0**-22


SUITES = {"add": add_case}
