# SPDX-License-Identifier: MIT
"""Suites norm and norm-bwd beside PyTorch's own kernels, torch.compile's, quack's and Liger's."""
import math

import torch
import torch._functorch.config as functorch
import torch.nn.functional as F

from torch_cases import TYPES, compiled, deviation, implementation, load, sampled

packages = load("norm", "packages")
FP8 = {"e4m3": torch.float8_e4m3fn, "e5m2": torch.float8_e5m2}
LEAST = 2.0**-80


def normed(x, residual, weight, bias, kind, eps, dropout=0.0):
    """y and r, which is of residual's type; y is of x's"""
    if dropout:
        x = F.dropout(x, dropout)
    r = x if residual is None else x + residual
    if r.dtype != x.dtype:
        weight, bias = weight.to(r.dtype), bias if bias is None else bias.to(r.dtype)
    if kind == "rms":
        return F.rms_norm(r, r.shape[1:], weight, eps).to(x.dtype), r
    return F.layer_norm(r, r.shape[1:], weight, bias, eps).to(x.dtype), r


def quantised(y, fp8):
    """y in fp8 and a scale for each row"""
    largest = torch.finfo(fp8).max
    scale = y.abs().amax(1, keepdim=True).float().clamp(min=LEAST) / largest
    return (y.float() / scale).clamp(-largest, largest).to(fp8), scale[:, 0]


def normed_to(fp8, *operands):
    y, r = normed(*operands)
    return *quantised(y, fp8), r


def dropped_or_kept(got, x, base, share):
    """base + mask * x / (1 - share) with the mask that `got` shows, since each draws its own."""
    kept = base + x / (1 - share)
    return torch.where((got - kept).abs() < (got - base).abs(), kept, base)


class norm_case:
    def __init__(self, case, device):
        self.rows, self.width = int(case["rows"]), int(case["width"])
        self.kind, self.dtype = case.get("kind", "rms"), case.get("type", "bf16")
        self.device, self.eps = device, 1e-5

        self.dropout = int(case.get("dropout", "0")) / 256

        def random(*shape, dtype=self.dtype):
            return torch.randn(*shape, device=device).to(TYPES[dtype])

        self.x, self.weight = random(self.rows, self.width), random(self.width)
        self.bias = random(self.width) if self.kind == "layer" else None
        self.residual = self.r = None
        if case.get("residual", "0") != "0":
            self.residual = random(self.rows, self.width, dtype=case.get("stream", self.dtype))
            self.r = torch.empty_like(self.residual)
        self.fp8, self.y_scale = FP8.get(case.get("to")), None
        self.y = torch.empty_like(self.x, dtype=self.fp8)
        if self.fp8:
            self.y_scale = torch.empty(self.rows, device=device)
        self.flops = 0
        tensors = (self.x, self.weight, self.bias, self.residual, self.y, self.r, self.y_scale)
        self.bytes = sum(x.numel() * x.element_size() for x in tensors if x is not None)

    def tk(self, library):
        operands = {"x": self.x, "residual": self.residual, "weight": self.weight,
                    "bias": self.bias, "y": self.y, "r": self.r, "y_scale": self.y_scale}
        call = library.bind("norm", operands, self.device, dropout=self.dropout,
                            kind=f"TK_NORM_{self.kind.upper()}", eps=self.eps)
        given = (self.y, self.y_scale, self.r) if self.fp8 else (self.y, self.r)
        return implementation("tk", call, lambda _: given)

    def outputs(self):
        return [x for x in (self.y, self.r, self.y_scale) if x is not None]

    def peers(self, _):
        operands = (self.x, self.residual, self.weight, self.bias, self.kind, self.eps,
                    self.dropout)
        plain = "torch_cpu" if self.device == "cpu" else "torch"
        forward = (lambda *given: normed_to(self.fp8, *given)) if self.fp8 else normed
        made = [implementation(plain, lambda: forward(*operands))]
        if self.device != "cpu":
            fused = compiled(forward)
            made.append(implementation("torch_compile", lambda: fused(*operands)))
            made.extend(packages.forward_peers(self))
        return made

    def compare(self, results):
        """Error and its limit. The output is rounded once, which sets the floor; fp32 statistics
        are off by less than 2^-20. Peers round r first, which costs another floor. Of fp8 y scale is
        y but for its rounding."""
        y, r = results[0], results[-1]
        if self.fp8:
            y = y.float() * results[1][:, None]
        parts, sums = deviation(), deviation()
        budget = 2**24 // self.width if self.device == "cpu" else self.rows
        for rows in sampled(self.rows, budget, self.device).split(1024):
            ref = self.x[rows].double()
            if self.residual is not None:
                base = self.residual[rows].double()
                ref = (dropped_or_kept(r[rows].double(), ref, base, self.dropout) if self.dropout
                       else base + ref)
                sums.add(r[rows], ref)
            if self.kind == "layer":
                ref = ref - ref.mean(1, keepdim=True)
            ref *= (ref.square().mean(1, keepdim=True) + self.eps).rsqrt() * self.weight.double()
            parts.add(y[rows], ref if self.bias is None else ref + self.bias.double())
        error, floor = parts.relative()
        sum_error, sum_floor = sums.relative()
        if not y.isfinite().all() or sum_error > 1.1 * sum_floor + 2.0**-20:
            error = math.inf
        if self.fp8:
            return error, 2.0**-4 if self.fp8 == FP8["e4m3"] else 2.0**-3
        return error, 1.1 * floor + 2.0**-20


class norm_backward_case:
    """dx, dweight and dbias from r and dy, with residual plus dr; with dropout or a stream of
    another type dresidual, too."""

    def __init__(self, case, device):
        self.rows, self.width = int(case["rows"]), int(case["width"])
        self.kind, self.dtype = case.get("kind", "rms"), case.get("type", "bf16")
        self.device, self.eps, self.flops = device, 1e-5, 0

        self.dropout = int(case.get("dropout", "0")) / 256
        stream = case.get("stream", self.dtype)

        def random(*shape, dtype=self.dtype):
            return torch.randn(*shape, device=device).to(TYPES[dtype])

        self.r = random(self.rows, self.width, dtype=stream)
        self.dy, self.weight = random(self.rows, self.width), random(self.width)
        residual = case.get("residual", "0") != "0"
        self.dr = random(self.rows, self.width, dtype=stream) if residual else None
        self.dx, self.dweight = torch.empty_like(self.dy), torch.empty_like(self.weight)
        self.dbias = torch.empty_like(self.weight) if self.kind == "layer" else None
        both = self.dropout or stream != self.dtype
        self.dresidual = torch.empty_like(self.r) if both else None
        tensors = (self.r, self.dy, self.weight, self.dr, self.dx, self.dweight, self.dbias,
                   self.dresidual)
        self.bytes = sum(x.numel() * x.element_size() for x in tensors if x is not None)

    def tk(self, library):
        operands = {"r": self.r, "dy": self.dy, "weight": self.weight, "dr": self.dr,
                    "dx": self.dx, "dweight": self.dweight, "dbias": self.dbias,
                    "dresidual": self.dresidual}
        call = library.bind("norm_backward", operands, self.device, dropout=self.dropout,
                            kind=f"TK_NORM_{self.kind.upper()}", eps=self.eps)
        return implementation("tk", call, lambda _: self.outputs())

    def outputs(self):
        tensors = self.dx, self.dweight, self.dbias, self.dresidual
        return [x for x in tensors if x is not None]

    def gradients(self, forward):
        """A call of the backward alone, of what a forward has kept. r is x + residual there, so
        that dr joins the gradient of x, as it does in a model; one of them is 0."""
        graph = []

        def call():
            with torch.inference_mode(False), torch.enable_grad():
                if not graph:
                    given = [t.clone() for t in (self.dy, self.dr) if t is not None]
                    r, weight = (t.clone().requires_grad_() for t in (self.r, self.weight))
                    bias = None if self.dbias is None else torch.zeros_like(weight).requires_grad_()
                    leaves = [t for t in (r, weight, bias) if t is not None]
                    x, residual = r, None if self.dr is None else torch.zeros_like(given[0])
                    if self.dresidual is not None:
                        x, residual = torch.zeros_like(self.dy).requires_grad_(), r
                        leaves = [x, *leaves[1:], r]
                    made = forward(x, residual, weight, bias, self.kind, self.eps, self.dropout)
                    graph.extend((made[:len(given)], leaves, given))
                return torch.autograd.grad(*graph, retain_graph=True)

        return call

    def peers(self, _):
        plain = "torch_cpu" if self.device == "cpu" else "torch"
        made = [implementation(plain, self.gradients(normed))]
        if self.device != "cpu":
            functorch.donated_buffer = False  # a graph is called again
            made.append(implementation("torch_compile", self.gradients(compiled(normed))))
            made.extend(packages.backward_peers(self))
        return made

    def reference(self):
        """dx of some rows with their numbers, and the sums over all, in parts of 1024 rows."""
        budget = 2**24 // self.width if self.device == "cpu" else self.rows
        picked = sampled(self.rows, budget, self.device)
        weight, parts = self.weight.double(), []
        dweight, dbias = torch.zeros_like(weight), torch.zeros_like(weight)
        for first in range(0, self.rows, 1024):
            h, dy = (t[first:first + 1024].double() for t in (self.r, self.dy))
            if self.kind == "layer":
                h -= h.mean(1, keepdim=True)
            scale = (h.square().mean(1, keepdim=True) + self.eps).rsqrt()
            h *= scale
            dweight += (dy * h).sum(0)
            dbias += dy.sum(0)
            inside = picked[(picked >= first) & (picked < first + 1024)]
            here = inside - first
            g, h = dy[here] * weight, h[here]
            dx = g - h * (g * h).mean(1, keepdim=True)
            if self.kind == "layer":
                dx -= g.mean(1, keepdim=True)
            dx *= scale[here]
            if self.dr is not None:
                dx += self.dr[inside].double()
            parts.append((inside, dx))
        return parts, dweight, dbias

    def compare(self, results):
        """Error and its limit, of the worst output: one rounding, the floor, and fp32 statistics
        and sums, which are off by less than 2^-18. Peers may round in between, which costs another
        floor."""
        parts, *sums = self.reference()
        dx, dresidual = deviation(), deviation()
        for rows, part in parts:
            if self.dresidual is not None:
                dresidual.add(results[-1][rows], part)
            if self.dropout:
                got = results[0][rows].double()
                part = dropped_or_kept(got, part, torch.zeros_like(part), self.dropout)
            dx.add(results[0][rows], part)
        every = [dx] if self.dresidual is None else [dx, dresidual]
        for got, want in zip(results[1:2 + (self.dbias is not None)], sums):
            every.append(deviation())
            every[-1].add(got, want)
        worst = max(every, key=lambda x: x.relative()[0] / (1.1 * x.relative()[1] + 2.0**-18))
        error, floor = worst.relative()
        if not all(x.isfinite().all() for x in results):
            error = math.inf
        return error, 1.1 * floor + 2.0**-18


SUITES = {"norm": norm_case, "norm-bwd": norm_backward_case}
