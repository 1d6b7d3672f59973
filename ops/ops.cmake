# SPDX-License-Identifier: MIT
# The one list of all ops, a line each: tk_op(<number> <name> <folder of ops/>). The number is TK_OP_<NAME>
# and never changes, nor is one used again. Everything that goes over all ops is made from it
# (cmake/TkOps.cmake): the C and C++ headers, the queries, the instances, the tests and benchmarks.
tk_op(0 gemm gemm)
tk_op(1 attention_forward attention)
tk_op(2 norm norm)
tk_op(3 attention_backward attention)
tk_op(4 softmax softmax)
tk_op(5 softmax_backward softmax)
tk_op(6 activation activation)
tk_op(7 activation_backward activation)
tk_op(8 norm_backward norm)
tk_op(9 cross_entropy cross_entropy)
tk_op(10 cross_entropy_backward cross_entropy)
tk_op(11 rotary rotary)
tk_op(12 linear_cross_entropy linear_cross_entropy)
tk_op(13 embedding embedding)
tk_op(14 embedding_backward embedding)
tk_op(15 add add)
tk_op(16 transpose transpose)
tk_op(17 quantise quantise)
tk_op(18 topk topk)
