# SPDX-License-Identifier: MIT
import numpy
import tk_ops

a = numpy.random.randn(3, 5, 16).astype(numpy.float16)
b = numpy.random.randn(1, 1, 16).astype(numpy.float32)  # stands for all rows
y = numpy.empty((3, 5, 16), numpy.float32)
tk_ops.add(a=a, b=b, y=y, alpha=2.0, beta=-1.0)
assert numpy.array_equal(y, 2 * a.astype(numpy.float32) - b)

tk_ops.add(a=a, y=y, alpha=1.0)  # a cast
assert numpy.array_equal(y, a.astype(numpy.float32))
