# SPDX-License-Identifier: MIT
import numpy
import tk_ops

q, k, v = numpy.random.randn(3, 1, 70, 2, 32).astype(numpy.float16)  # [b, n, heads, d]
decay = numpy.array([0.1, 0.01], numpy.float32)
o, state = numpy.empty_like(v), numpy.empty((1, 2, 32, 32), numpy.float32)
tk_ops.linear_attention(q=q, k=k, v=v, o=o, decay=decay, final_state=state, scale=32**-0.5)

s = numpy.zeros((32, 32))  # the first head
for t in range(70):
    s = numpy.exp(-0.1) * s + numpy.outer(k[0, t, 0], v[0, t, 0].astype(float))
assert numpy.allclose(state[0, 0], s, atol=0.05)
assert numpy.allclose(o[0, 69, 0], 32**-0.5 * q[0, 69, 0].astype(float) @ s, atol=0.05)
