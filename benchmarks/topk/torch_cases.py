# SPDX-License-Identifier: MIT
"""The suite of topk beside PyTorch's topk, or argmax where k is 1 and indices alone are wanted, and
beside the maximum of each row, which reads the same bytes and shows what reading costs."""
import torch

from torch_cases import TYPES, implementation, sampled


class topk_case:
    def __init__(self, case, device):
        self.rows, self.width, self.k = (int(case[key]) for key in ("rows", "width", "k"))
        self.dtype, self.device, self.flops = case.get("type", "bf16"), device, 0
        self.plain = "torch_cpu" if device == "cpu" else "torch"
        self.x = torch.randn(self.rows, self.width, device=device).to(TYPES[self.dtype])
        empty = self.x.new_empty(self.rows, self.k)
        self.values = None if int(case.get("indices_only", 0)) else empty
        self.indices = torch.empty_like(empty, dtype=torch.int32)
        tensors = [self.x, self.values, self.indices]
        self.bytes = sum(t.numel() * t.element_size() for t in tensors if t is not None)

    def tk(self, library):
        operands = {"x": self.x, "values": self.values, "indices": self.indices}
        call = library.bind("topk", operands, self.device)
        return implementation("tk", call, lambda _: self.outputs())

    def outputs(self):
        return [t for t in (self.values, self.indices) if t is not None]

    def peers(self, _):
        if self.k == 1 and self.values is None:
            largest = implementation(self.plain, lambda: (self.x.argmax(-1, keepdim=True),))
        else:
            largest = implementation(self.plain, lambda: tuple(self.x.topk(self.k)))
        return [largest, implementation("read", lambda: (self.x.amax(-1, keepdim=True),))]

    def compare(self, results):
        """How many results are not right, of which there may be none. PyTorch promises no order of
        equal numbers: of columns it counts what is in them, and that none is named twice."""
        wrong = 0
        budget = 2**24 // self.width if self.device == "cpu" else self.rows
        for rows in sampled(self.rows, budget, self.device).split(1024):
            x = self.x[rows]
            right = x.sort(-1, descending=True).values
            for result in results:
                found = result[rows]
                if not found.is_floating_point():
                    columns = found.long()
                    ordered = columns.sort(-1).values
                    wrong += (ordered[:, 1:] == ordered[:, :-1]).sum().item()
                    found = x.gather(-1, columns)
                wrong += (found != right[:, : found.shape[1]]).sum().item()
        return float(wrong), 0.0


SUITES = {"topk": topk_case}
