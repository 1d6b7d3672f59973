# SPDX-License-Identifier: MIT
"""The suites of Hedgehog attention beside its definition in PyTorch, eager and compiled, and its
gradients. Of flash-linear-attention, where it is installed, chunk_linear_attn takes features that
are ready, all tokens and no normaliser: the linear part alone, which is compared as such."""
import functools
import math

import torch
from torch.nn.functional import pad

from torch_cases import TYPES, compiled, deviation, implementation, package, sampled

WIDTH, FEATURES, BLOCK = 128, 64, 64
CANCELLED = 8


def features(x, maps):
    """phi of x [b, h, n, 128]."""
    u = x @ maps
    return torch.cat([u.softmax(-1), (-u).softmax(-1)], -1).clamp_min(1e-6)


def hedgehog(q, k, v, map_q, map_k, alpha, beta, kv, z, past):
    """o, and the states before the next token's window, of q [b, h, n - past, 128] and k, v
    [b, h, n, 128], from states kv and z before the first key."""
    n, sums = k.shape[2], kv.dtype
    whole = max(0, n // BLOCK - 1)
    blocks = -(-n // BLOCK)
    more = blocks * BLOCK - n

    def cut(x):
        return pad(x, (0, 0, 0, more)).unflatten(2, (blocks, BLOCK))

    q, k, v = cut(pad(q, (0, 0, past, 0))), cut(k), cut(v)
    phi_q = features(q, map_q[:, None])
    phi_k = features(k, map_k[:, None])

    def before(x):
        return torch.cat([torch.zeros_like(x[:, :, :1]), x[:, :, :-1]], 2)

    # States before each block's window, and before the next token's.
    of_kv = torch.cat([kv[:, :, None], phi_k.mT.to(sums) @ v.to(sums)], 2).cumsum(2)
    of_z = torch.cat([z[:, :, None], phi_k.to(sums).sum(-2)], 2).cumsum(2)
    at = (torch.arange(blocks, device=q.device) - 1).clamp_min(0)
    keys, values = torch.cat([before(k), k], 3), torch.cat([before(v), v], 3)
    scores = (q @ keys.mT).to(sums)
    row, col = (torch.arange(m, device=q.device) for m in (BLOCK, 2 * BLOCK))
    seen = (col <= row[:, None] + BLOCK).expand(blocks, -1, -1).clone()
    seen[0] &= col >= BLOCK
    scores = scores.masked_fill(~seen, -math.inf)
    top = scores.amax(-1, keepdim=True)
    p = beta[:, None, None, None] * ((scores - top) * WIDTH**-0.5).exp()
    phi_q = phi_q * alpha[:, None, None, None].to(phi_q.dtype)
    o = p.to(v.dtype) @ values + phi_q @ of_kv[:, :, at].to(v.dtype)
    total = p.sum(-1) + (phi_q.to(sums) @ of_z[:, :, at].unsqueeze(-1)).squeeze(-1) + 1e-6
    o = (o / total[..., None]).flatten(2, 3)[:, :, past:n]
    return o, of_kv[:, :, whole], of_z[:, :, whole]


def linear_part(q, k, v):
    """Causal, without normaliser, of [heads, n, d]."""
    s, o = torch.zeros_like(k[:, :1].mT @ v[:, :1]), []
    for at in range(0, q.shape[1], 256):
        q_i, k_i, v_i = (x[:, at : at + 256] for x in (q, k, v))
        o.append((q_i @ k_i.mT).tril() @ v_i + q_i @ s)
        s = s + k_i.mT @ v_i
    return torch.cat(o, 1)


class hedgehog_case:
    def __init__(self, case, device):
        number = {key: int(value) for key, value in case.items() if str(value).isdigit()}
        self.b, self.n, self.h = (number.get(key, 1) for key in "bnh")
        self.past, self.has_states = number.get("past", 0), bool(number.get("states", 0))
        self.dtype, self.device, self.flops = case.get("type", "bf16"), device, 0
        made = torch.randn(self.b, self.n, 3, self.h, WIDTH, device=device)
        self.q, self.k, self.v = (x.contiguous() for x in made.to(TYPES[self.dtype]).unbind(2))
        self.q = self.q[:, self.past :].contiguous()
        maps = torch.randn(2, self.h, WIDTH, FEATURES, device=device) / 10
        self.map_q, self.map_k = maps.to(TYPES[self.dtype])
        self.alpha = self.beta = torch.full((self.h,), 0.5, device=device)
        self.kv = torch.zeros(self.b, self.h, WIDTH, WIDTH, device=device)
        self.z = torch.zeros(self.b, self.h, WIDTH, device=device)
        if self.has_states:
            self.kv.normal_()
            self.z.fill_(1)
        self.o = torch.empty_like(self.q)
        self.final_kv, self.final_k = torch.empty_like(self.kv), torch.empty_like(self.z)
        tensors = [self.q, self.k, self.v, self.o, maps[:1], self.alpha, self.beta]
        if self.has_states:
            tensors += 2 * [self.kv, self.z]
        self.bytes = sum(t.numel() * t.element_size() for t in tensors)

    def tk(self, library):
        operands = {"q": self.q, "k": self.k, "v": self.v, "o": self.o, "map_q": self.map_q,
                    "map_k": self.map_k, "alpha": self.alpha, "beta": self.beta}
        if self.has_states:
            operands |= {"initial_kv": self.kv, "initial_k": self.z, "final_kv": self.final_kv,
                         "final_k": self.final_k}
        call = library.bind("hedgehog", operands, self.device, scale=WIDTH**-0.5)
        return implementation("tk", call, lambda _: self.results())

    def results(self):
        states = (self.final_kv, self.final_k) if self.has_states else (None, None)
        return self.o.transpose(1, 2), *states

    def outputs(self):
        return [self.o, self.final_kv, self.final_k] if self.has_states else [self.o]

    def operands(self):
        q, k, v = (x.transpose(1, 2) for x in (self.q, self.k, self.v))
        return q, k, v, self.map_q, self.map_k, self.alpha, self.beta, self.kv, self.z, self.past

    def peers(self, _):
        operands = self.operands()
        if self.device == "cpu":
            operands = tuple(x.float() if isinstance(x, torch.Tensor) else x for x in operands)
            return [implementation("torch_cpu", lambda: hedgehog(*operands))]
        run = compiled(hedgehog)
        peers = [implementation("torch", lambda: hedgehog(*operands)),
                 implementation("torch_compiled", lambda: run(*operands))]
        if self.past == 0:
            self.phi = [features(x.transpose(1, 2), m).transpose(1, 2).contiguous()
                        for x, m in ((self.q, self.map_q), (self.k, self.map_k))]
            peers.append(implementation("fla_linear_part_only", self.of_fla, lambda o: (o[0],)))
        return peers

    def of_fla(self):
        run = package("fla.ops.linear_attn").chunk_linear_attn
        return run(*self.phi, self.v, scale=1.0, normalize=False)

    def some_heads(self):
        budget = 2 if self.device == "cpu" else max(2, 2**29 // (self.n * WIDTH * WIDTH))
        picks = sampled(self.b * self.h, self.b * self.h, self.device)
        return picks[:: max(1, len(picks) // budget)].split(1)

    def compare(self, results):
        """Roundings of weights, features, states and results; the floor is one."""
        parts, kv, z = deviation(), deviation(), deviation()
        for pick in self.some_heads():
            batch, head = pick // self.h, pick % self.h

            def of(t):
                return t.transpose(1, 2)[batch, head].double()

            if len(results) == 1:
                parts.add(results[0].transpose(1, 2)[batch, head],
                          linear_part(of(self.phi[0]), of(self.phi[1]), of(self.v)))
                continue
            exact = hedgehog(*(of(x)[:, None] for x in (self.q, self.k, self.v)),
                             self.map_q[head].double(), self.map_k[head].double(),
                             self.alpha[head].double(), self.beta[head].double(),
                             self.kv[batch, head][:, None].double(),
                             self.z[batch, head][:, None].double(), self.past)
            parts.add(results[0][batch, head], exact[0][:, 0])
            if self.has_states:
                kv.add(results[1][batch, head], exact[1][:, 0])
                z.add(results[2][batch, head], exact[2][:, 0])
        error = max(x.relative()[0] for x in (parts, kv, z))
        finite = all(t.isfinite().all() for t in results if t is not None)
        limit = 3 * (2.0**-9 if self.dtype == "bf16" else 2.0**-12) + 2.0**-14
        return error if finite else math.inf, limit


class backward_case(hedgehog_case):
    """Gradients of o: dq, dk, dv, and those of maps and factors."""

    def __init__(self, case, device):
        super().__init__(case, device)
        self.dout = torch.randn_like(self.q)
        self.made = [torch.empty_like(t) for t in (self.q, self.k, self.v)]
        self.made += [torch.empty(t.shape, device=device) for t in
                      (self.map_q, self.map_k, self.alpha, self.beta)]
        self.normaliser = torch.empty(self.b, self.h, self.n - self.past, device=device)
        self.bytes += sum(t.numel() * t.element_size()
                          for t in (self.dout, self.normaliser, *self.made))

    def tk(self, library):
        operands = {"q": self.q, "k": self.k, "v": self.v, "o": self.o, "map_q": self.map_q,
                    "map_k": self.map_k, "alpha": self.alpha, "beta": self.beta,
                    "normaliser": self.normaliser}
        if self.has_states:
            operands |= {"initial_kv": self.kv, "initial_k": self.z}
        library.bind("hedgehog", operands, self.device, scale=WIDTH**-0.5)()
        names = "dq", "dk", "dv", "dmap_q", "dmap_k", "dalpha", "dbeta"
        operands |= {"dout": self.dout, **dict(zip(names, self.made))}
        call = library.bind("hedgehog_backward", operands, self.device, scale=WIDTH**-0.5)
        return implementation("tk", call, lambda _: self.made)

    def outputs(self):
        return self.made

    def peers(self, _):
        """None on the CPU."""
        if self.device == "cpu":
            return []
        return [implementation(name, functools.partial(self.gradients, self.graph(run)),
                               self.by_token)
                for name, run in (("torch", hedgehog), ("torch_compiled", compiled(hedgehog)))]

    def graph(self, run):
        """o and what gradients are wanted of, made by the first call."""
        @functools.cache
        def made():
            with torch.inference_mode(False), torch.enable_grad():
                *operands, kv, z, past = self.operands()
                wanted = [t.clone().requires_grad_() for t in operands]
                o, *_ = run(*wanted, kv.clone(), z.clone(), past)
            return o, wanted, self.dout.transpose(1, 2).clone()

        return made

    @staticmethod
    def gradients(made):
        o, wanted, dout = made()
        with torch.inference_mode(False):
            return torch.autograd.grad(o, wanted, dout.to(o.dtype), retain_graph=True)

    @staticmethod
    def by_token(gradients):
        return [t.transpose(1, 2) for t in gradients[:3]] + list(gradients[3:])

    def compare(self, results):
        """dq, dk and dv of some heads, which are off by the gradients of scores, too; the others
        where all heads are taken."""
        parts = [deviation() for _ in results]
        heads = self.some_heads()
        sums = [torch.zeros_like(t, dtype=torch.float64) for t in results[3:]]
        for pick in heads:
            batch, head = pick // self.h, pick % self.h
            with torch.inference_mode(False), torch.enable_grad():
                of = [t.transpose(1, 2)[batch, head].double()[:, None].clone().requires_grad_()
                      for t in (self.q, self.k, self.v)]
                of += [t[head].double().clone().requires_grad_()
                       for t in (self.map_q, self.map_k, self.alpha, self.beta)]
                o, *_ = hedgehog(*of, self.kv[batch, head][:, None].double().clone(),
                                 self.z[batch, head][:, None].double().clone(), self.past)
                dout = self.dout.transpose(1, 2)[batch, head].double()[:, None].clone()
                exact = torch.autograd.grad(o, of, dout)
            for part, got, x in zip(parts, results[:3], exact):
                part.add(got.transpose(1, 2)[batch, head], x[:, 0])
            for total, x in zip(sums, exact[3:]):
                total[head] += x
        if len(heads) == self.b * self.h:
            for part, got, x in zip(parts[3:], results[3:], sums):
                part.add(got, x)
        error = max(x.relative()[0] for x in parts[:5])
        for x in parts[5:]:  # of terms of both signs, which the rounding of o reaches
            error = max(error, x.relative()[0] / CANCELLED)
        limit = 6 * (2.0**-9 if self.dtype == "bf16" else 2.0**-12) + 2.0**-13
        return error if all(t.isfinite().all() for t in results) else math.inf, limit


SUITES = {"hedgehog": hedgehog_case, "hedgehog-bwd": backward_case}
