# SPDX-License-Identifier: MIT
import numpy
import tk_ops

q, k = (numpy.random.randn(1, 9, h, 32).astype(numpy.float32) for h in (4, 2))
angles = numpy.arange(9)[:, None] / 10000 ** (numpy.arange(16) / 16)
cos, sin = numpy.cos(angles).astype(numpy.float32), numpy.sin(angles).astype(numpy.float32)
q1, k1 = numpy.empty_like(q), numpy.empty_like(k)
tk_ops.rotary(q=q, k=k, cos=cos, sin=sin, q_out=q1, k_out=k1)

first, second = q[..., :16], q[..., 16:]
c, s = cos[:, None], sin[:, None]
assert numpy.allclose(q1[..., :16], first * c - second * s, atol=1e-5)
tk_ops.rotary(q=q1, k=k1, cos=cos, sin=sin, q_out=q1, k_out=k1, inverse=1)
assert numpy.allclose(q1, q, atol=1e-5)  # back, in place
