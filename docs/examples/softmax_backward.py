# SPDX-License-Identifier: MIT
import numpy
import tk_ops

x, dy = numpy.random.randn(2, 4, 32).astype(numpy.float32)
y, dx = numpy.empty_like(x), numpy.empty_like(x)
tk_ops.softmax(x=x, y=y, scale=0.5)
tk_ops.softmax_backward(y=y, dy=dy, dx=dx, scale=0.5)

exact = 0.5 * y * (dy - (y * dy).sum(-1, keepdims=True))
assert numpy.allclose(dx, exact, atol=1e-6)
