# SPDX-License-Identifier: MIT
import numpy
import tk_ops

q = numpy.random.randn(1, 5, 4, 64).astype(numpy.float16)  # [b, n, heads, d]
k, v = (numpy.random.randn(1, 5, 2, 64).astype(numpy.float16) for _ in "kv")  # two heads for four
o, lse = numpy.empty_like(q), numpy.empty((1, 4, 5), numpy.float32)
tk_ops.attention_forward(q=q, k=k, v=v, o=o, lse=lse, mask=tk_ops.Mask.CAUSAL, scale=64**-0.5)

scores = q[0, :, 3].astype(float) @ k[0, :, 1].astype(float).T / 8  # the last head
weights = numpy.tril(numpy.exp(scores))
assert numpy.allclose(lse[0, 3], numpy.log(weights.sum(1)), atol=1e-4)
assert numpy.allclose(o[0, :, 3], weights / weights.sum(1, keepdims=True) @ v[0, :, 1], atol=5e-3)
