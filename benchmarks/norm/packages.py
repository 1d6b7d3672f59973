# SPDX-License-Identifier: MIT
"""quack's norms and Liger's as peers, where they can be imported.

Their forwards and backwards are called without autograd, each with its own defaults. Both take
RMSNorm with a residual and LayerNorm without; neither takes dropout, fp8, or a residual of another
type. quack's weights of LayerNorm are fp32.
"""
from torch_cases import implementation, made_at_first_call, package


def expect(case, name, x, residual):
    """The case is RMSNorm, or LayerNorm without a residual, of one type."""
    types = {t.dtype for t in (x, residual) if t is not None}
    if case.dropout or getattr(case, "fp8", None) or types != {case.weight.dtype}:
        raise NotImplementedError(f"{name} has neither dropout nor other types")
    if case.kind == "layer" and residual is not None:
        raise NotImplementedError(f"{name}'s LayerNorm takes no residual")


def forward_peers(case):
    """y, and with a residual r, of a case of the forward."""
    x, residual, eps = case.x, case.residual, case.eps

    def quack():
        expect(case, "quack", x, residual)
        if case.kind == "layer":
            norm = package("quack.rmsnorm").layernorm_fwd
            weight, bias = case.weight.float(), case.bias.float()
            return lambda: (norm(x, weight, bias, eps),)
        norm = package("quack.rmsnorm").rmsnorm_fwd
        return lambda: norm(x, case.weight, residual=residual, eps=eps)[:2]

    def liger():
        expect(case, "Liger", x, residual)
        if case.kind == "layer":
            norm = package("liger_kernel.ops.layer_norm").layer_norm_forward
            return lambda: norm(x, case.weight, case.bias, eps)[:1]
        if residual is not None:
            norm = package("liger_kernel.ops.fused_add_rms_norm").fused_add_rms_norm_forward
            return lambda: norm(x, residual, case.weight, eps, 0.0, "llama")[:2]
        norm = package("liger_kernel.ops.rms_norm").rms_norm_forward
        return lambda: norm(x, case.weight, eps, 0.0, "llama", None)[:1]

    return [implementation("quack", made_at_first_call(quack)),
            implementation("liger", made_at_first_call(liger))]


def backward_peers(case):
    """dx, dweight and, of LayerNorm, dbias, of what their own forwards of r keep."""
    r, dy, dr, weight, eps = case.r, case.dy, case.dr, case.weight, case.eps

    def quack():
        expect(case, "quack", r, dr)
        of = package("quack.rmsnorm")
        if case.kind == "layer":
            _, rstd, mean = of.layernorm_fwd(r, weight.float(), None, eps, True, True)
            return lambda: of.layernorm_bwd(r, weight, dy, rstd, mean)
        rstd = of.rmsnorm_fwd(r, weight, eps=eps, store_rstd=True)[2]
        return lambda: of.rmsnorm_bwd(r, weight, dy, rstd, dr)[:2]

    def liger():
        expect(case, "Liger", r, dr)
        if case.kind == "layer":
            of = package("liger_kernel.ops.layer_norm")
            bias = weight.new_zeros(weight.shape)
            _, x, mean, rstd, *_ = of.layer_norm_forward(r, weight, bias, eps)
            return lambda: of.layer_norm_backward(dy, x, weight, bias, mean, rstd)
        if dr is not None:
            of = package("liger_kernel.ops.fused_add_rms_norm")
            _, s, rstd, *sizes, mode = of.fused_add_rms_norm_forward(
                r, r.new_zeros(r.shape), weight, eps, 0.0, "llama")

            def added():
                dx, _, dweight = of.fused_add_rms_norm_backward(dy, dr, s, weight, rstd, 0.0, mode,
                                                                *sizes, False)
                return dx, dweight

            return added
        of = package("liger_kernel.ops.rms_norm")
        _, x, rstd, *sizes, mode = of.rms_norm_forward(r, weight, eps, 0.0, "llama", None)
        return lambda: of.rms_norm_backward(dy, x, weight, rstd, 0.0, mode, *sizes, False, None)

    return [implementation("quack", made_at_first_call(quack)),
            implementation("liger", made_at_first_call(liger))]
