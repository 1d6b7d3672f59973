# SPDX-License-Identifier: MIT
import numpy
import tk_ops

x, dy = numpy.random.randn(2, 1, 30, 24).astype(numpy.float32)
weight = numpy.random.randn(24, 4).astype(numpy.float32)
dx, dweight, dbias = numpy.empty_like(x), numpy.empty_like(weight), numpy.empty(24, numpy.float32)
tk_ops.conv1d_backward(x=x, weight=weight, dy=dy, dx=dx, dweight=dweight, dbias=dbias)

behind = numpy.concatenate((dy[0], numpy.zeros((3, 24))))
exact = sum(weight[:, i] * behind[3 - i : 33 - i] for i in range(4))
assert numpy.allclose(dx[0], exact, atol=1e-5)
assert numpy.allclose(dweight[:, 3], (x * dy).sum((0, 1)), atol=1e-4)
assert numpy.allclose(dbias, dy.sum((0, 1)), atol=1e-4)
