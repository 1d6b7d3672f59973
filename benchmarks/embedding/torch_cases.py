# SPDX-License-Identifier: MIT
"""The suites of embedding beside PyTorch's own: F.embedding, and its backward, as it is by default
and as torch.use_deterministic_algorithms has it."""
import math

import torch

from torch_cases import TYPES, deviation, implementation, sampled


class token_case:
    def __init__(self, case, device):
        self.v, self.tokens, self.d = (int(case[key]) for key in ("v", "tokens", "d"))
        self.dtype, self.device, self.flops = case.get("type", "bf16"), device, 0
        self.plain = "torch_cpu" if device == "cpu" else "torch"
        kind, share = case.get("ids", "uniform"), torch.rand(self.tokens, dtype=torch.float64)
        at = (self.v + 1.0) ** share - 1 if kind == "zipf" else share * self.v
        ids = at.clamp(max=self.v - 1)
        if kind == "one":
            ids[::2] = self.v // 2
        self.ids = ids.to(device, torch.int32)
        self.named = self.ids.long()

    def random(self, *shape):
        return torch.randn(*shape, device=self.device).to(TYPES[self.dtype])


class forward_case(token_case):
    def __init__(self, case, device):
        super().__init__(case, device)
        self.table = self.random(self.v, self.d)
        self.y = torch.empty(self.tokens, self.d, dtype=self.table.dtype, device=device)
        rows = self.ids.unique().numel() + self.tokens
        self.bytes = rows * self.d * self.y.element_size() + 4 * self.tokens

    def tk(self, library):
        operands = {"table": self.table, "ids": self.ids, "y": self.y}
        call = library.bind("embedding", operands, self.device)
        return implementation("tk", call, lambda _: self.y)

    def outputs(self):
        return [self.y]

    def peers(self, _):
        return [implementation(self.plain,
                               lambda: torch.nn.functional.embedding(self.ids, self.table))]

    def compare(self, results):
        """Rows are copied, and nothing else is right."""
        parts = deviation()
        budget = 2**24 // self.d if self.device == "cpu" else self.tokens
        for rows in sampled(self.tokens, budget, self.device).split(1024):
            parts.add(results[rows], self.table[self.named[rows]].double())
        return parts.relative()[0] if results.isfinite().all() else math.inf, 0.0


class backward_case(token_case):
    def __init__(self, case, device):
        super().__init__(case, device)
        self.dy = self.random(self.tokens, self.d)
        of = TYPES[case.get("dtable", self.dtype)]
        self.dtable = torch.empty(self.v, self.d, dtype=of, device=device)
        self.bytes = sum(t.numel() * t.element_size() for t in (self.dy, self.ids, self.dtable))

    def tk(self, library):
        operands = {"dy": self.dy, "ids": self.ids, "dtable": self.dtable}
        call = library.bind("embedding_backward", operands, self.device)
        return implementation("tk", call, lambda _: self.dtable)

    def outputs(self):
        return [self.dtable]

    def gradient(self):
        return torch.ops.aten.embedding_dense_backward(self.dy, self.ids, self.v, -1, False)

    def deterministic(self):
        """A sum by index, which that switch sorts."""
        return torch.zeros(self.v, self.d, dtype=self.dy.dtype, device=self.device).index_put_(
            (self.named,), self.dy, accumulate=True)

    def peers(self, _):
        made = [implementation(self.plain, self.gradient)]
        if self.device != "cpu":
            made.append(implementation("torch_deterministic", self.deterministic,
                                       context=deterministic_algorithms))
        return made

    def compare(self, results):
        """Error and its limit: one rounding, the floor, and fp32 sums, which are off by less than
        2^-15."""
        parts = deviation()
        budget = 2**24 // self.d if self.device == "cpu" else self.v
        for rows in sampled(self.v, budget, self.device).split(1024):
            place = torch.full((self.v,), -1, device=self.device).index_copy_(
                0, rows, torch.arange(len(rows), device=self.device))[self.named]
            sums = torch.zeros(len(rows), self.d, dtype=torch.float64, device=self.device)
            named = (place >= 0).nonzero()[:, 0]
            for tokens in named.split(2**16):
                sums.index_add_(0, place[tokens], self.dy[tokens].double())
            parts.add(results[rows], sums)
        error, floor = parts.relative()
        return error if results.isfinite().all() else math.inf, 1.1 * floor + 2.0**-15


class deterministic_algorithms:
    """While its context lasts."""

    def __enter__(self):
        self.was = torch.are_deterministic_algorithms_enabled()
        torch.use_deterministic_algorithms(True)

    def __exit__(self, *_):
        torch.use_deterministic_algorithms(self.was)


SUITES = {"embedding-fwd": forward_case, "embedding-bwd": backward_case}
