# SPDX-License-Identifier: MIT
import numpy
import tk_ops

q, k = (numpy.random.randn(2, 1, 70, 2, 16) / 2).astype(numpy.float16)
v = numpy.random.randn(1, 70, 2, 32).astype(numpy.float16)
o = numpy.empty_like(v)
tk_ops.based(q=q, k=k, v=v, o=o, scale=0.25, normalise=1)

s = q[0, :, 1].astype(float) @ k[0, :, 1].astype(float).T / 4  # the second head
weights = numpy.tril(1 + s + s * s / 2)
exact = weights / weights.sum(1, keepdims=True) @ v[0, :, 1]
assert numpy.allclose(o[0, :, 1], exact, atol=1e-2)
