# SPDX-License-Identifier: MIT
import torch
import tk_ops.torch as tk

x = torch.randn(3, 64, requires_grad=True)
q = torch.randn(1, 2, 5, 12, dtype=torch.bfloat16)
said = {}
for name, call in {
    "types": lambda: tk.linear(x, x),
    "sizes": lambda: tk.rms_norm(x, 32),
    "heads": lambda: tk.scaled_dot_product_attention(q, q, q),
    "forward mode": lambda: torch.func.jvp(tk.silu, (x,), (x,)),
}.items():
    try:
        call()
    except (TypeError, ValueError, NotImplementedError) as refusal:
        said[name] = type(refusal), str(refusal)

assert said["types"][0] is TypeError and "tk_gemm: a is fp32" in said["types"][1]
assert said["sizes"][0] is ValueError and "must be normalized_shape [32]" in said["sizes"][1]
assert said["heads"][0] is NotImplementedError and "multiple of 8" in said["heads"][1]
assert said["forward mode"][0] is NotImplementedError
