# SPDX-License-Identifier: MIT
"""The suite of linear_cross_entropy beside PyTorch's own kernels, torch.compile's and Liger's."""
import math

import torch
import torch.nn.functional as F

from torch_cases import TYPES, compiled, deviation, implementation, package, sampled


class linear_case:
    sample = True

    def __init__(self, case, device):
        self.rows, self.d, self.vocab = (int(case[key]) for key in ("rows", "d", "vocab"))
        self.grad, self.chunk = int(case.get("grad", 1)), int(case.get("chunk", 0))
        self.dtype, self.device = case.get("type", "bf16"), device
        self.plain = "torch_cpu" if device == "cpu" else "torch"
        self.x = torch.randn(self.rows, self.d, device=device).to(TYPES[self.dtype])
        self.w = (torch.randn(self.vocab, self.d, device=device) / self.d**0.5).to(
            TYPES[self.dtype])
        self.labels = torch.randint(self.vocab, (self.rows,), device=device)
        self.loss, self.lse = (torch.empty(self.rows, device=device) for _ in range(2))
        self.dx, self.dw = ((torch.empty_like(self.x), torch.empty_like(self.w)) if self.grad
                            else (None, None))
        self.flops = (6 if self.grad else 2) * self.rows * self.d * self.vocab
        tensors = [self.x, self.w, self.labels, self.loss, self.dx, self.dw]
        self.bytes = sum(t.numel() * t.element_size() for t in tensors if t is not None)

    def tk(self, library):
        operands = {"x": self.x, "w": self.w, "labels": self.labels, "loss": self.loss,
                    "lse": self.lse, "dx": self.dx, "dw": self.dw}
        call = library.bind("linear_cross_entropy", operands, self.device, dloss_scale=1.0,
                            chunk_rows=self.chunk)
        return implementation("tk", call, lambda _: (self.loss, self.dx, self.dw))

    def outputs(self):
        return [x for x in (self.loss, self.lse, self.dx, self.dw) if x is not None]

    def losses(self, x, w, labels):
        return F.cross_entropy(F.linear(x, w).float(), labels, reduction="none")

    def both_ways(self, losses):
        if not self.grad:
            with torch.no_grad():
                return losses(self.x, self.w, self.labels), None, None
        with torch.inference_mode(False), torch.enable_grad():
            x, w = (t.detach().clone().requires_grad_() for t in (self.x, self.w))
            loss = losses(x, w, self.labels.clone())
            loss.backward(torch.ones_like(loss))
            return loss.detach(), x.grad, w.grad

    def liger_call(self):
        function = package("liger_kernel.ops.fused_linear_cross_entropy")
        call = function.LigerFusedLinearCrossEntropyFunction.apply

        def losses(x, w, labels):
            loss = call(x, w, labels, None, None, -100, 0.0, 0.0, "sum")
            return loss[0] if isinstance(loss, tuple) else loss

        total, dx, dw = self.both_ways(losses)
        return total, dx, dw

    def peers(self, _):
        made = [implementation(self.plain, lambda: self.both_ways(self.losses))]
        if self.device != "cpu":
            losses = compiled(self.losses)
            made.append(implementation("torch_compile", lambda: self.both_ways(losses)))
            made.append(implementation("liger", self.liger_call))
        return made

    def reference(self, rows):
        s = self.x[rows].double() @ self.w.double().T
        lse, labels = torch.logsumexp(s, 1), self.labels[rows]
        loss = lse - s.gather(1, labels[:, None])[:, 0]
        g = (s - lse[:, None]).exp_()
        g[torch.arange(len(rows), device=s.device), labels] -= 1
        return loss, g @ self.w.double()

    def reference_of_w(self, some):
        """Rows of dw, from all rows of x in parts."""
        w, total = self.w[some].double(), 0
        for rows in torch.arange(self.rows, device=self.device).split(256):
            x = self.x[rows].double()
            lse = torch.logsumexp((self.x[rows] @ self.w.T).float(), 1).double()
            g = (x @ w.T - lse[:, None]).exp_()
            g -= (self.labels[rows][:, None] == some).double()
            total = total + g.T @ x
        return total

    def compare(self, results):
        """Error and its limit, of the result that is off most: logits and their gradients are
        rounded on their way."""
        loss, dx, dw = results
        parts = {name: deviation() for name in ("loss", "dx", "dw")}
        budget = max(4, 2**31 // (self.vocab * self.d))
        for rows in sampled(self.rows, budget, self.device).split(64):
            right = self.reference(rows)
            if loss.dim() > 0:
                parts["loss"].add(loss[rows], right[0])
            if dx is not None:
                parts["dx"].add(dx[rows], right[1])
        if dw is not None:
            some = sampled(self.vocab, 16, self.device)
            parts["dw"].add(dw[some], self.reference_of_w(some))
        worst = (0.0, 1.0)
        for name, got in zip(parts, results):
            if got is None or got.dim() == 0:
                continue
            error, floor = parts[name].relative()
            limit = 2.0**-9 if name == "loss" else 1.1 * floor + 2.0**-7
            if not got.isfinite().all():
                error = math.inf
            if error * worst[1] >= worst[0] * limit:
                worst = error, limit
        return worst


SUITES = {"linear_cross_entropy": linear_case}
