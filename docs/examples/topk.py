# SPDX-License-Identifier: MIT
import numpy
import tk_ops

x = numpy.array([[3, 1, 4, 1, 5], [9, 2, 6, 5, 3]], numpy.float32)
values, indices = numpy.empty((2, 3), numpy.float32), numpy.empty((2, 3), numpy.int64)
tk_ops.topk(x=x, values=values, indices=indices)
assert values.tolist() == [[5, 4, 3], [9, 6, 5]]

tk_ops.topk(x=x, indices=indices, smallest=1)
assert indices.tolist() == [[1, 3, 0], [1, 4, 3]]  # the lowest column first where numbers are equal
