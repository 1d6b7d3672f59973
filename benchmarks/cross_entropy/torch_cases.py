# SPDX-License-Identifier: MIT
"""The suites of cross_entropy beside PyTorch's own kernels, torch.compile's, Liger's and quack's.
Where they compute the gradient with the loss, PyTorch's run both directions, Liger's its one kernel,
which overwrites logits of its own: from the second call on those are gradients, which takes as long.
"""
import functools
import math

import torch
import torch._functorch.config as functorch
import torch.nn.functional as F

from torch_cases import TYPES, compiled, deviation, implementation, package, sampled


class row_case:
    has_dx = True

    def __init__(self, case, device):
        self.rows, self.vocab = int(case["rows"]), int(case["vocab"])
        self.smoothing, self.z = float(case.get("smoothing", 0)), float(case.get("z", 0))
        self.softcap, self.dtype = float(case.get("softcap", 0)), case.get("type", "bf16")
        self.device, self.flops = device, 0
        self.plain = "torch_cpu" if device == "cpu" else "torch"
        self.x = torch.randn(self.rows, self.vocab, device=device, dtype=TYPES[self.dtype])
        self.labels = torch.randint(self.vocab, (self.rows,), device=device)
        self.loss, self.lse = (torch.empty(self.rows, device=device) for _ in range(2))
        self.dx = torch.empty_like(self.x) if self.has_dx else None
        logits = (2 if self.has_dx else 1) * self.x.numel() * self.x.element_size()
        self.bytes = logits + self.rows * (8 + 4 + 4)

    def options(self):
        return {"label_smoothing": self.smoothing, "z_loss": self.z, "softcap": self.softcap}

    def losses(self, x, labels):
        """Of each row, in the words of PyTorch."""
        x = x.float()
        if self.softcap:
            x = self.softcap * torch.tanh(x / self.softcap)
        loss = F.cross_entropy(x, labels, label_smoothing=self.smoothing, reduction="none")
        return loss + self.z * torch.logsumexp(x, -1).square() if self.z else loss

    @functools.cached_property
    def recorded(self):
        """Logits and labels of autograd's own, which no inference mode made."""
        with torch.inference_mode(False):
            return self.x.clone().requires_grad_(), self.labels.clone()

    def expect_plain(self, name):
        if self.smoothing or self.z or self.softcap:
            raise NotImplementedError(f"{name} has none of the options")

    def reference(self, rows):
        """loss, lse and dx in float64, of one dloss."""
        x, labels = self.x[rows].double(), self.labels[rows]
        s = self.softcap * torch.tanh(x / self.softcap) if self.softcap else x
        lse = torch.logsumexp(s, 1)
        loss = lse - (1 - self.smoothing) * s.gather(1, labels[:, None])[:, 0] \
            - self.smoothing * s.mean(1) + self.z * lse.square()
        if not self.has_dx:
            return loss, lse, None
        dx = (s - lse[:, None]).exp_() * (1 + 2 * self.z * lse)[:, None] - self.smoothing / self.vocab
        dx[torch.arange(len(rows), device=x.device), labels] -= 1 - self.smoothing
        if self.softcap:
            dx *= 1 - (s / self.softcap).square()
        return loss, lse, dx * self.dloss(rows)[:, None]

    def compare(self, results):
        """Error and its limit, of the result that is off most; lse may be missing. One rounding, the
        floor, and fp32 exponentials and sums, which are off by less than 2^-17."""
        budget = 2**24 // self.vocab if self.device == "cpu" else 1024
        parts = [deviation() for _ in results]
        for rows in sampled(self.rows, budget, self.device).split(64):
            for part, got, right in zip(parts, results, self.reference(rows)):
                if got is not None:
                    part.add(got[rows], right)
        worst = (0.0, 1.0)
        for part, got in zip(parts, results):
            if got is None:
                continue
            error, floor = part.relative()
            limit = 1.1 * floor + 2.0**-17
            if not got.isfinite().all():
                error = math.inf
            if error * worst[1] >= worst[0] * limit:
                worst = error, limit
        return worst


class forward_case(row_case):
    def __init__(self, case, device):
        self.has_dx = case.get("dx", "no") == "yes"
        super().__init__(case, device)

    def dloss(self, rows):
        return torch.ones(len(rows), dtype=torch.float64, device=self.device)

    def tk(self, library):
        operands = {"x": self.x, "labels": self.labels, "loss": self.loss, "lse": self.lse,
                    "dx": self.dx}
        call = library.bind("cross_entropy", operands, self.device, dloss_scale=1.0,
                            **self.options())
        return implementation("tk", call, lambda _: (self.loss, self.lse, self.dx))

    def outputs(self):
        return [x for x in (self.loss, self.lse, self.dx) if x is not None]

    def both_ways(self, losses):
        """loss, and dx where it is asked for."""
        if not self.has_dx:
            with torch.no_grad():
                return losses(self.x, self.labels), None, None
        x, labels = self.recorded
        with torch.inference_mode(False), torch.enable_grad():
            loss = losses(x, labels)
            return loss.detach(), None, torch.autograd.grad(loss, x, torch.ones_like(loss))[0]

    def peers(self, _):
        made = [implementation(self.plain, lambda: self.both_ways(self.losses))]
        if self.device == "cpu":
            return made
        losses = compiled(self.losses)
        made.append(implementation("torch_compile", lambda: self.both_ways(losses)))
        made.append(implementation("liger", self.liger_call))
        made.append(implementation("quack", self.quack_call))
        return made

    @functools.cached_property
    def liger_logits(self):
        return self.x.clone().requires_grad_(self.has_dx)

    def liger_call(self):
        ops = package("liger_kernel.ops.cross_entropy")
        loss = ops.cross_entropy_forward(self.liger_logits, self.labels, None, -100, self.z,
                                         self.smoothing, "none", self.softcap or None, False)[0]
        return loss, None, self.liger_logits.detach() if self.has_dx else None

    def quack_call(self):
        self.expect_plain("quack")
        found = package("quack.cross_entropy").cross_entropy_fwd(
            self.x, self.labels, return_lse=True, return_dx=self.has_dx)
        return (*found, None)[:3]


class backward_case(row_case):
    def __init__(self, case, device):
        super().__init__(case, device)
        self.of_loss = torch.randn(self.rows, device=device)
        s = self.softcap * torch.tanh(self.x / self.softcap) if self.softcap else self.x
        for rows in torch.arange(self.rows, device=device).split(1024):
            self.lse[rows] = torch.logsumexp(s[rows].float(), 1)

    def dloss(self, rows):
        return self.of_loss[rows].double()

    def tk(self, library):
        operands = {"x": self.x, "labels": self.labels, "lse": self.lse, "dloss": self.of_loss,
                    "dx": self.dx}
        call = library.bind("cross_entropy_backward", operands, self.device, **self.options())
        return implementation("tk", call, lambda _: (None, None, self.dx))

    def outputs(self):
        return [self.dx]

    def gradient_call(self, losses):
        x, labels = self.recorded
        functorch.donated_buffer = False  # a graph is called again
        with torch.inference_mode(False), torch.enable_grad():
            loss, of_loss = losses(x, labels), self.of_loss.clone()

        def call():
            with torch.inference_mode(False):
                return None, None, torch.autograd.grad(loss, x, of_loss, retain_graph=True)[0]

        return call

    def peers(self, _):
        made = [implementation(self.plain, self.gradient_call(self.losses))]
        if self.device == "cpu":
            return made
        made.append(implementation("torch_compile", self.gradient_call(compiled(self.losses))))
        made.append(implementation("quack", self.quack_call))
        return made

    def quack_call(self):
        self.expect_plain("quack")
        dx = package("quack.cross_entropy").cross_entropy_bwd(self.x, self.labels, self.of_loss,
                                                              self.lse)
        return None, None, dx


SUITES = {"cross_entropy-fwd": forward_case, "cross_entropy-bwd": backward_case}
