# SPDX-License-Identifier: MIT
"""The suites of softmax beside PyTorch's own kernels, torch.compile's, and quack's, which take
plain rows alone."""
import math

import torch

from torch_cases import TYPES, compiled, deviation, implementation, package, sampled


class row_case:
    """[h, rows, width], or [rows, width] where h is not given."""

    def __init__(self, case, device):
        self.h, self.rows, self.width = int(case.get("h", 0)), int(case["rows"]), int(case["width"])
        self.causal, self.dtype = case.get("mask", "none") == "causal", case.get("type", "bf16")
        self.device, self.flops = device, 0
        self.plain = "torch_cpu" if device == "cpu" else "torch"
        columns = torch.arange(self.width, device=device)
        self.seen = columns[None] <= self.last_seen(torch.arange(self.rows, device=device))[:, None] \
            if self.causal else None

    def last_seen(self, rows):
        return rows % self.rows + self.width - self.rows if self.causal else \
            torch.full_like(rows, self.width - 1)

    def shape(self, h, rows):
        return (h, rows, self.width) if self.h else (rows, self.width)

    def random(self, h, rows):
        return torch.randn(self.shape(h, rows), device=self.device).to(TYPES[self.dtype])

    def masked(self, scores):
        return scores if self.seen is None else scores.masked_fill(~self.seen, -math.inf)

    def bytes_moved(self, inputs, output):
        """What rows see of the inputs, and the output whole."""
        every = self.last_seen(torch.arange(self.rows)).clamp(-1, self.width - 1).add(1).sum().item()
        share = every / (self.rows * self.width)
        read = sum(x.numel() * x.element_size() * (share if x.numel() > self.width else 1)
                   for x in inputs if x is not None)
        return int(read) + output.numel() * output.element_size()

    def compare(self, results):
        """Error and its limit: one rounding, the floor, and fp32 exponentials and sums, which are
        off by less than 2^-19."""
        parts, flat = deviation(), results.reshape(-1, self.width)
        budget = 2**24 // self.width if self.device == "cpu" else len(flat)
        for rows in sampled(len(flat), budget, self.device).split(1024):
            seen = torch.arange(self.width, device=self.device)[None] <= self.last_seen(rows)[:, None]
            parts.add(flat[rows], self.reference(rows, seen))
        error, floor = parts.relative()
        return error if results.isfinite().all() else math.inf, 1.1 * floor + 2.0**-19

    def peers(self, _):
        made = [implementation(self.plain, self.torch_call())]
        if self.device != "cpu":
            made.append(implementation("torch_compile", self.compiled_call()))
            made.append(implementation("quack", self.quack_call))
        return made

    def expect_plain(self):
        if self.causal or any(getattr(self, x, None) is not None for x in ("bias", "bool_mask")):
            raise NotImplementedError("quack has neither masks nor bias")


class forward_case(row_case):
    def __init__(self, case, device):
        super().__init__(case, device)
        self.x, self.y = self.random(self.h, self.rows), self.random(self.h, self.rows)
        kind = case.get("bias", "none")
        self.bias = None if kind == "none" else self.random(1, self.rows if kind == "matrix" else 1)
        kind = case.get("bool_mask", "none")
        self.bool_mask = None if kind == "none" else \
            torch.rand(self.shape(1, self.rows if kind == "matrix" else 1), device=device) < 0.875
        self.bytes = self.bytes_moved((self.x, self.bias, self.bool_mask), self.y)

    def tk(self, library):
        operands = {"x": self.x, "bias": self.bias, "y": self.y, "bool_mask": self.bool_mask}
        call = library.bind("softmax", operands, self.device, scale=1.0,
                            mask="TK_MASK_CAUSAL" if self.causal else "TK_MASK_NONE")
        return implementation("tk", call, lambda _: self.y)

    def outputs(self):
        return [self.y]

    def softmax(self, x, bias):
        scores = self.masked(x if bias is None else x + bias)
        if self.bool_mask is not None:
            scores = scores.masked_fill(~self.bool_mask, -math.inf)
        return torch.softmax(scores, -1)

    def torch_call(self):
        return lambda: self.softmax(self.x, self.bias)

    def compiled_call(self):
        softmax = compiled(self.softmax)
        return lambda: softmax(self.x, self.bias)

    def quack_call(self):
        self.expect_plain()
        softmax_fwd = package("quack.softmax").softmax_fwd
        return softmax_fwd(self.x.view(-1, self.width)).view(self.x.shape)

    def reference(self, rows, seen):
        scores = self.x.view(-1, self.width)[rows].double()
        if self.bias is not None:
            bias = self.bias.view(-1, self.width)
            scores += bias[rows % self.rows if len(bias) > 1 else torch.zeros_like(rows)].double()
        if self.bool_mask is not None:
            shown = self.bool_mask.view(-1, self.width)
            seen = seen & shown[rows % self.rows if len(shown) > 1 else torch.zeros_like(rows)]
        return scores.masked_fill_(~seen, -math.inf).softmax(1).nan_to_num_(0)


class backward_case(row_case):
    def __init__(self, case, device):
        super().__init__(case, device)
        scores = self.masked(self.random(self.h, self.rows))
        self.y = torch.softmax(scores, -1).nan_to_num_(0)
        self.dy, self.dx = self.random(self.h, self.rows), torch.empty_like(self.y)
        self.bytes = self.bytes_moved((self.y, self.dy), self.dx)

    def tk(self, library):
        operands = {"y": self.y, "dy": self.dy, "dx": self.dx}
        call = library.bind("softmax_backward", operands, self.device, scale=1.0,
                            mask="TK_MASK_CAUSAL" if self.causal else "TK_MASK_NONE")
        return implementation("tk", call, lambda _: self.dx)

    def outputs(self):
        return [self.dx]

    def torch_call(self):
        return lambda: torch._softmax_backward_data(self.dy, self.y, -1, self.y.dtype)

    def compiled_call(self):
        def gradient(dy, y):
            product = dy.float() * y.float()
            return (product - y.float() * product.sum(-1, keepdim=True)).to(y.dtype)

        gradient = compiled(gradient)
        return lambda: gradient(self.dy, self.y)

    def quack_call(self):
        self.expect_plain()
        softmax_bwd = package("quack.softmax").softmax_bwd
        dx = softmax_bwd(self.dy.view(-1, self.width), self.y.view(-1, self.width))
        return dx.view(self.dx.shape)

    def reference(self, rows, seen):
        y, dy = (x.view(-1, self.width)[rows].double() for x in (self.y, self.dy))
        y.masked_fill_(~seen, 0)
        return y * (dy - (y * dy).sum(1, keepdim=True))


SUITES = {"softmax-fwd": forward_case, "softmax-bwd": backward_case}
