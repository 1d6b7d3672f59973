# SPDX-License-Identifier: MIT
"""The suites of attention beside cuDNN and FlashAttention-2, as PyTorch calls them, and beside
FlashAttention-3 and -4; on the CPU beside PyTorch's own.

References are computed once for all that is compared with them. A sample is drawn by a seed of its
own, the same for all: of the forward some rows of every head; of the backward as many key heads of
batches, each with its query heads, as SAMPLED_SCORES hold (one at least, all if sequences are
short); of packed sequences and with options one key head of every sequence. That results are finite
is looked at everywhere.
"""
import itertools
import math
import os
import sys

import torch
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

from torch_cases import ROOT, TYPES, deviation, implementation, load, sampled

sys.path.insert(0, os.path.join(ROOT, "tests/python"))
from definitions import philox  # noqa: E402

flash = load("attention", "flash")
SAMPLED_ROWS, SAMPLED_SCORES = 256, 2**28


def drawn(n, count):
    """count of the numbers below n, always the same."""
    return torch.randperm(n, generator=torch.Generator().manual_seed(n))[:count].sort()[0].tolist()


def random_bytes(plane, rows, cols):
    """The bytes of a plane that core/random.hpp defines, by seed 0 and offset 0: [rows, cols]."""
    i, j = rows[:, None], cols[None]
    words = philox((i // 16 * 4 + i % 8 // 2, j // 16 * 4 + j % 8 // 2, plane, 0), (0, 0))
    even, odd = (torch.where(j % 2 == 0, *pair) for pair in (words[:2], words[2:]))
    return torch.where(i % 2 == 0, even, odd) >> i // 8 % 2 * 16 + j // 8 % 2 * 8 & 255


def lse_gap(got, ref):
    """The largest difference as a share of itself, or of 1."""
    gap = (got.double() - ref).abs() / ref.abs().clamp(min=1)
    gap.masked_fill_(got == ref, 0)  # both may be -inf
    return gap.nan_to_num(nan=math.inf).max().item()


class forward_case:
    sample = packed = False
    left, softcap, alibi, dropout = None, 0.0, None, 0

    def __init__(self, case, device):
        self.b, self.nq, self.hq, self.d = (int(case[key]) for key in "bnhd")
        self.nk, self.hk = int(case.get("nk", self.nq)), int(case.get("hk", self.hq))
        self.mask = case.get("mask", "none")
        self.dtype = self.out = case.get("type", "bf16")
        self.device, self.scale = device, self.d**-0.5

        def random(*shape):
            return torch.randn(*shape, device=device).to(TYPES[self.dtype])

        if case.get("layout") == "packed":
            packed = random(self.b, self.nq, self.hq + 2 * self.hk, self.d)
            self.q, self.k, self.v = packed.split([self.hq, self.hk, self.hk], dim=2)
        else:
            self.q = random(self.b, self.nq, self.hq, self.d)
            self.k, self.v = (random(self.b, self.nk, self.hk, self.d) for _ in range(2))
        self.o = torch.empty(self.b, self.nq, self.hq, self.d, dtype=self.q.dtype, device=device)
        self.lse = torch.empty(self.b, self.hq, self.nq, device=device)
        seeing = min(self.nq, self.nk)  # of the rows, where the mask is causal
        pairs = seeing * (2 * self.nk - seeing) // 2 if self.mask == "causal" else self.nq * self.nk
        self.flops = 4 * self.b * self.hq * pairs * self.d
        tensors = (self.q, self.k, self.v, self.o, self.lse)
        self.bytes = sum(x.numel() * x.element_size() for x in tensors)
        self.references = []

    def shaped(self, x):
        return x

    flat = shaped

    def operands(self):
        return {name: getattr(self, name) for name in ("q", "k", "v", "o", "lse")}

    def tk(self, library):
        call = library.bind("attention_forward", self.operands(), self.device,
                            mask=f"TK_MASK_{self.mask.upper()}", scale=self.scale)
        return implementation("tk", call, lambda _: (self.o, self.lse))

    def outputs(self):
        return [self.o, self.lse]

    def peers(self, _):
        own = [] if self.device == "cpu" else flash.forward_peers(self)
        # PyTorch aligns its causal mask to the first key: the same only where nq = nk
        if self.mask == "causal" and self.nq != self.nk:
            return own
        q, k, v = (x.transpose(1, 2) for x in (self.q, self.k, self.v))

        def call():
            return F.scaled_dot_product_attention(q, k, v, is_causal=self.mask == "causal",
                                                  scale=self.scale, enable_gqa=self.hq != self.hk)

        def results(returned):
            return returned.transpose(1, 2), None

        def on(backend):
            return lambda: sdpa_kernel([backend])

        if self.device == "cpu":
            return [implementation("torch_cpu", call, results)]
        return [implementation("cudnn", call, results, on(SDPBackend.CUDNN_ATTENTION)),
                implementation("flash2", call, results, on(SDPBackend.FLASH_ATTENTION)), *own]

    def reference(self, batch, rows):
        """o and lse of some rows of every head of one batch, float64: [hq, rows, d], [hq, rows]."""
        operands = self.q[batch][rows], self.k[batch], self.v[batch]
        q, k, v = (x.transpose(0, 1).double() for x in operands)
        k, v = (x.repeat_interleave(self.hq // self.hk, dim=0) for x in (k, v))
        scores = q @ k.mT * self.scale
        if self.mask == "causal":
            last = rows + self.nk - self.nq
            hidden = torch.arange(self.nk, device=self.device)[None] > last[:, None]
            scores.masked_fill_(hidden, -math.inf)
        lse = scores.logsumexp(2)
        return scores.sub_(lse[:, :, None]).exp_().nan_to_num_() @ v, lse

    def expected(self):
        """What is compared: batch, rows, their o and lse."""
        if not self.references:
            row_cost = self.b * self.hq * self.nk * self.d
            budget = SAMPLED_ROWS if self.sample else self.nq
            budget = min(budget, 2**30 // row_cost) if self.device == "cpu" else budget
            picked = sampled(self.nq, budget, self.device)
            for batch in range(self.b):
                for rows in picked.split(max(1, 2**27 // (self.hq * self.nk))):
                    self.references.append((batch, rows, *self.reference(batch, rows)))
        return self.references

    def compare(self, results):
        """Error and its limit. The output is rounded once, and so are the probabilities between the
        two products, each to the floor: sqrt 2 floors, 2 with a margin. lse is fp32 and may be off
        by 2^-15 of itself (or of 1), which exp2 and log2 in 22 bits never use up."""
        x, lse = results
        parts, worst_lse = deviation(), 0.0
        for batch, rows, ref, ref_lse in self.expected():
            parts.add(x[batch, rows].transpose(0, 1), ref)
            if lse is not None:
                worst_lse = max(worst_lse, lse_gap(lse[batch][:, rows], ref_lse))
        error, floor = parts.relative()
        if not x.isfinite().all() or worst_lse > 2.0**-15:
            error = math.inf
        return error, 2 * floor


class backward_case:
    """dq, dk, dv from o and lse of tk's own forward. Peers' graphs are made before they are timed."""

    forward_type, sample = forward_case, False

    def __init__(self, case, device):
        self.forward = x = self.forward_type(case, device)
        self.dtype, self.device = x.dtype, device
        self.dout = torch.randn(x.o.shape, device=device).to(x.o.dtype)
        self.dq, self.dk, self.dv = (torch.empty_like(y) for y in (x.q, x.k, x.v))
        self.flops = 5 * x.flops // 2  # five products for the forward's two
        tensors = (x.q, x.k, x.v, x.o, x.lse, self.dout, self.dq, self.dk, self.dv)
        self.bytes = sum(y.numel() * y.element_size() for y in tensors)
        self.references = []

    def tk(self, library):
        x = self.forward
        x.tk(library).call()
        own = {"dout": self.dout, "dq": self.dq, "dk": self.dk, "dv": self.dv}
        call = library.bind("attention_backward", {**x.operands(), **own}, self.device,
                            mask=f"TK_MASK_{x.mask.upper()}", scale=x.scale)
        return implementation("tk", call, lambda _: (self.dq, self.dk, self.dv))

    def outputs(self):
        return [self.dq, self.dk, self.dv]

    def peers(self, _):
        x = self.forward
        own = [] if self.device == "cpu" else flash.backward_peers(self)
        if x.mask == "causal" and x.nq != x.nk:
            return own

        def made(name, backend):
            graph = []

            def call():
                with torch.inference_mode(False), torch.enable_grad():
                    if not graph:
                        leaves = [y.transpose(1, 2).clone().requires_grad_() for y in (x.q, x.k, x.v)]
                        with sdpa_kernel([backend]):
                            out = F.scaled_dot_product_attention(
                                *leaves, is_causal=x.mask == "causal", scale=x.scale,
                                enable_gqa=x.hq != x.hk)
                        graph.extend((out, leaves, self.dout.transpose(1, 2).clone()))
                    out, leaves, dout = graph
                    return torch.autograd.grad(out, leaves, dout, retain_graph=True)

            return implementation(name, call, lambda grads: [y.transpose(1, 2) for y in grads])

        if self.device == "cpu":
            return [made("torch_cpu", SDPBackend.MATH)]
        return [made("cudnn", SDPBackend.CUDNN_ATTENTION),
                made("flash2", SDPBackend.FLASH_ATTENTION), *own]

    def reference(self, batch, head):
        """dq, dk, dv that a query head of one batch contributes, float64."""
        x, key_head = self.forward, head // (self.forward.hq // self.forward.hk)
        q, dout, o = (y[batch, :, head].double() for y in (x.q, self.dout, x.o))
        k, v = (y[batch, :, key_head].double() for y in (x.k, x.v))
        p = (q @ k.mT * x.scale - x.lse[batch, head].double()[:, None]).exp_()
        if x.mask == "causal":
            p.tril_(x.nk - x.nq)
        ds = (dout @ v.mT - (dout * o).sum(1, keepdim=True)).mul_(p).mul_(x.scale)
        return ds @ k, ds.mT @ q, p.mT @ dout

    def group(self, key_head, *where):
        """The references of a key head: dq of its query heads, and the sums of their dk and dv."""
        size = self.forward.hq // self.forward.hk
        heads = range(key_head * size, (key_head + 1) * size)
        parts = [self.reference(*where, head) for head in heads]
        return dict(zip(heads, (dq for dq, *_ in parts))), *(sum(y) for y in list(zip(*parts))[1:])

    def expected(self):
        """What is compared: where of the outputs, a key head, its group."""
        x = self.forward
        if not self.references:
            n = x.b * x.hk
            fit = SAMPLED_SCORES // (x.nq * x.nk * x.hq // x.hk)
            for i in drawn(n, max(1, fit)) if self.sample else range(n):
                where, key_head = divmod(i, x.hk)
                self.references.append((where, key_head, self.group(key_head, where)))
        return self.references

    def compare(self, results):
        """Error and its limit, of the worst output. Each is rounded once, and p and ds once before
        their products, each to the floor: sqrt 2 floors, 2 with a margin."""
        if results is None:
            return 0.0, 0.0
        parts = [deviation() for _ in results]
        for where, key_head, (dqs, *others) in self.expected():
            for head, dq in dqs.items():
                parts[0].add(results[0][where, ..., head, :], dq)
            for part, got, ref in zip(parts[1:], results[1:], others):
                part.add(got[where, ..., key_head, :], ref)
        error, floor = max((part.relative() for part in parts), key=lambda y: y[0] / (y[1] or 1))
        if not all(y.isfinite().all() for y in results):
            error = math.inf
        return error, 2 * floor


class varlen_case:
    """The forward of packed sequences, and with options. lse is checked of tk alone, and so is all
    with dropout, for which others draw numbers of their own: their results are None."""
    sample = False

    def __init__(self, case, device):
        self.packed = "lens" in case
        parts = [part.split("x") for part in case["lens"].split(",")] if self.packed \
            else [(case["n"], case["b"])]
        self.lengths = [int(part[0]) for part in parts for _ in range(int((*part, 1)[1]))]
        self.starts = list(itertools.accumulate(self.lengths, initial=0))
        self.hq, self.d = int(case["h"]), int(case["d"])
        self.hk = int(case.get("hk", self.hq))
        self.left = int(case["left"]) if "left" in case else None
        self.softcap, self.mask = float(case.get("softcap", 0)), case.get("mask", "none")
        self.dtype, self.device, self.scale = case.get("type", "bf16"), device, self.d**-0.5
        self.dropout = int(case.get("dropout", 0))  # of 256
        heads = torch.arange(1, self.hq + 1, device=device)
        self.alibi = torch.exp2(-8 * heads / self.hq) if int(case.get("alibi", 0)) else None

        def random(heads):
            return torch.randn(self.starts[-1], heads, self.d, device=device).to(TYPES[self.dtype])

        self.q, self.k, self.v = random(self.hq), random(self.hk), random(self.hk)
        self.o = torch.empty_like(self.q)
        self.lse = torch.empty(self.hq, self.starts[-1], device=device)
        self.table = torch.tensor(self.starts, dtype=torch.int32, device=device)
        pairs = sum(self.seen(n, 0, n).sum().item() for n in self.lengths)
        self.flops = 4 * pairs * self.hq * self.d
        tensors = (self.q, self.k, self.v, self.o, self.lse)
        self.bytes = sum(x.numel() * x.element_size() for x in tensors)
        self.references = []

    def seen(self, n, first, last):
        """Which keys of a sequence of n its queries from first up to last see."""
        row, col = (torch.arange(*ends, device=self.device) for ends in ((first, last), (0, n)))
        distance = row[:, None] - col[None]
        seen = distance >= 0 if self.mask == "causal" else torch.ones_like(distance, dtype=bool)
        return seen if self.left is None else seen & (distance <= self.left)

    def shaped(self, x):
        return x if self.packed else x.view(len(self.lengths), -1, *x.shape[1:])

    def flat(self, x):
        return x if self.packed else x.flatten(0, 1)

    def operands(self):
        lse = self.lse if self.packed else self.lse.view(len(self.lengths), self.hq, -1)
        return {**{name: self.shaped(getattr(self, name)) for name in "qkvo"}, "lse": lse}

    def fields(self):
        """What else a problem of it holds."""
        options = {"softcap": self.softcap, "alibi": self.alibi, "dropout": self.dropout / 256}
        if self.left is not None:
            options.update(has_window_left=1, window_left=self.left)
        if self.packed:
            options.update(q_starts=self.table, k_starts=self.table,
                           max_nq=max(self.lengths), max_nk=max(self.lengths))
        return {"mask": f"TK_MASK_{self.mask.upper()}", "scale": self.scale, "options": options}

    def tk(self, library):
        operands = self.operands()
        call = library.bind("attention_forward", operands, self.device, **self.fields())
        return implementation("tk", call, lambda _: (self.o, operands["lse"]))

    def outputs(self):
        return [self.o, self.lse]

    def peers(self, _):
        longest = max(self.lengths)

        def flash2():
            if self.softcap:
                raise NotImplementedError("PyTorch's has no softcap")
            return torch.ops.aten._flash_attention_forward(
                self.q, self.k, self.v, self.table, self.table, longest, longest,
                self.dropout / 256, self.mask == "causal", False, scale=self.scale,
                window_size_left=self.left, alibi_slopes=self.alibi)[0]

        def results(o):
            return None if self.dropout else (o, None)

        if self.device == "cpu":
            return []
        return [implementation("flash2", flash2, results), *flash.forward_peers(self)]

    def scores(self, start, n, first, last, head):
        """Of some rows of a head of one sequence, float64, and their slope in scale q k^T."""
        k = self.k[start:start + n, head // (self.hq // self.hk)].double()
        scores, slope = self.q[start + first:start + last, head].double() @ k.mT * self.scale, 1
        if self.softcap:
            scores.div_(self.softcap).tanh_()
            slope = 1 - scores.square()
            scores.mul_(self.softcap)
        if self.alibi is not None:
            row, col = (torch.arange(*ends, device=self.device) for ends in ((first, last), (0, n)))
            scores -= self.alibi[head].double() * (row[:, None] - col[None]).abs()
        return scores.masked_fill_(~self.seen(n, first, last), -math.inf), slope

    def kept(self, start, n, first, last, head):
        """What their weights are multiplied by."""
        if not self.dropout:
            return 1
        rows, cols = (torch.arange(*ends, device=self.device) for ends in ((first, last), (0, n)))
        drawn = random_bytes(self.starts.index(start) * self.hq + head, rows, cols)
        return (drawn >= self.dropout) * (256 / (256 - self.dropout))

    def reference(self, start, n, first, last, head):
        """o and lse of the same rows."""
        v = self.v[start:start + n, head // (self.hq // self.hk)].double()
        scores, _ = self.scores(start, n, first, last, head)
        lse = scores.logsumexp(1)
        p = scores.sub_(lse[:, None]).exp_().mul_(self.kept(start, n, first, last, head))
        return p @ v, lse

    def picked(self, sample):
        """Key heads to compare."""
        return drawn(self.hk, 1) if sample else range(self.hk)

    def expected(self):
        """What is compared: sequence, its first and last row, head, their o and lse."""
        size = self.hq // self.hk
        if not self.references:
            for s, (start, n) in enumerate(zip(self.starts, self.lengths)):
                blocks = range(0, n, 4096)
                for first, key_head in itertools.product(blocks, self.picked(self.sample)):
                    last = min(n, first + 4096)
                    for head in range(key_head * size, (key_head + 1) * size):
                        ref = self.reference(start, n, first, last, head)
                        self.references.append((s, first, last, head, *ref))
        return self.references

    def compare(self, results):
        """As of the forward; every row."""
        if results is None:
            return 0.0, 0.0
        o, lse = results
        parts, worst_lse = deviation(), 0.0
        for s, first, last, head, ref, ref_lse in self.expected():
            rows = slice(self.starts[s] + first, self.starts[s] + last)
            parts.add(o[rows, head], ref)
            if lse is not None:
                got = lse[head, rows] if self.packed else lse[s, head, first:last]
                worst_lse = max(worst_lse, lse_gap(got, ref_lse))
        error, floor = parts.relative()
        if not o.isfinite().all() or worst_lse > 2.0**-15:
            error = math.inf
        return error, 2 * floor


class varlen_backward_case(backward_case):
    """dq, dk, dv of packed sequences, and with options, from o and lse of tk's own forward."""
    forward_type = varlen_case

    def tk(self, library):
        x = self.forward
        x.tk(library).call()
        own = {name: x.shaped(getattr(self, name)) for name in ("dout", "dq", "dk", "dv")}
        call = library.bind("attention_backward", {**x.operands(), **own}, self.device, **x.fields())
        return implementation("tk", call, lambda _: self.outputs())

    def peers(self, _):
        x, longest = self.forward, max(self.forward.lengths)
        rest = (x.table, x.table, longest, longest, x.dropout / 256, x.mask == "causal")
        options = {"scale": x.scale, "window_size_left": x.left}
        saved = []

        def flash2():
            if x.softcap or x.alibi is not None:
                raise NotImplementedError("PyTorch's has neither softcap nor slopes")
            if not saved:
                saved.append(torch.ops.aten._flash_attention_forward(x.q, x.k, x.v, *rest, False,
                                                                     **options))
            o, lse, *random = saved[0][:4]
            return torch.ops.aten._flash_attention_backward(self.dout, x.q, x.k, x.v, o, lse, *rest,
                                                            *random, **options)

        if self.device == "cpu":
            return []
        return [implementation("flash2", flash2, lambda grads: None if x.dropout else list(grads)),
                *flash.backward_peers(self)]

    def reference(self, start, n, head):
        """dq, dk, dv that a query head of one sequence contributes, float64."""
        x, key_head = self.forward, head // (self.forward.hq // self.forward.hk)
        every = slice(start, start + n)
        q, dout, o = (y[every, head].double() for y in (x.q, self.dout, x.o))
        k, v = (y[every, key_head].double() for y in (x.k, x.v))
        scores, slope = x.scores(start, n, 0, n, head)
        p, kept = (scores - scores.logsumexp(1)[:, None]).exp_(), x.kept(start, n, 0, n, head)
        ds = (dout @ v.mT).mul_(kept).sub_((dout * o).sum(1, keepdim=True))
        ds.mul_(p).mul_(slope).mul_(x.scale)
        return ds @ k, ds.mT @ q, p.mul_(kept).mT @ dout

    def expected(self):
        x = self.forward
        if not self.references:
            parts = zip(x.starts, x.lengths)
            for (start, n), key_head in itertools.product(parts, x.picked(self.sample)):
                where = slice(start, start + n)
                self.references.append((where, key_head, self.group(key_head, start, n)))
        return self.references


def any_backward_case(case, device):
    options = {"lens", "left", "softcap", "alibi", "dropout"} & set(case)
    return (varlen_backward_case if options else backward_case)(case, device)


SUITES = {"attention-fwd": forward_case, "attention-bwd": any_backward_case,
          "attention-varlen": varlen_case}
