# SPDX-License-Identifier: MIT
import numpy
import tk_ops

q, k = (numpy.random.randn(2, 1, 70, 2, 16) / 2).astype(numpy.float16)
v, dout = numpy.random.randn(2, 1, 70, 2, 32).astype(numpy.float16)
dq, dk, dv = numpy.empty_like(q), numpy.empty_like(k), numpy.empty_like(v)
tk_ops.based_backward(q=q, k=k, v=v, dout=dout, dq=dq, dk=dk, dv=dv, scale=0.25)

s = q[0, :, 1].astype(float) @ k[0, :, 1].astype(float).T / 4  # the second head
exact = numpy.tril(1 + s + s * s / 2).T @ dout[0, :, 1]
assert numpy.allclose(dv[0, :, 1], exact, atol=0.1)
