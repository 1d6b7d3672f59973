# SPDX-License-Identifier: MIT
import numpy
import tk_ops

q, k, v = (numpy.random.randn(3, 1, 200, 2, 128) / 4).astype(numpy.float16)
map_q, map_k = (numpy.random.randn(2, 2, 128, 64) / 8).astype(numpy.float16)
alpha, beta = numpy.ones((2, 2), numpy.float32)
o = numpy.empty_like(q)
tk_ops.hedgehog(
    q=q, k=k, v=v, o=o, map_q=map_q, map_k=map_k, alpha=alpha, beta=beta, scale=128**-0.5
)

# Within the first two blocks of 64 tokens there is softmax alone, but for its normaliser.
s = numpy.tril(q[0, :128, 1].astype(float) @ k[0, :128, 1].astype(float).T * 128**-0.5)
weights = numpy.tril(numpy.exp(s))
exact = weights / weights.sum(1, keepdims=True) @ v[0, :128, 1]
assert numpy.allclose(o[0, :128, 1], exact, atol=5e-3)
