# SPDX-License-Identifier: MIT
import numpy
import tk_ops

x = numpy.random.randn(3, 5, 16).astype(numpy.float16)
y = numpy.empty((3, 16, 5), numpy.float16)
tk_ops.transpose(x=x, y=y)
assert numpy.array_equal(y, x.transpose(0, 2, 1))
