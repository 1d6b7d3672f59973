# SPDX-License-Identifier: MIT
import numpy
import tk_ops

x = numpy.random.randn(4, 50).astype(numpy.float32)
labels, dloss = numpy.array([3, 0, 49, 7]), numpy.full(4, 0.25, numpy.float32)
loss, lse, dx = numpy.empty(4, numpy.float32), numpy.empty(4, numpy.float32), numpy.empty_like(x)
tk_ops.cross_entropy(x=x, labels=labels, loss=loss, lse=lse, dloss_scale=1.0)
tk_ops.cross_entropy_backward(x=x, labels=labels, lse=lse, dloss=dloss, dx=dx)

exact = numpy.exp(x - lse[:, None]) - numpy.eye(50)[labels]
assert numpy.allclose(dx, exact / 4, atol=1e-6)
