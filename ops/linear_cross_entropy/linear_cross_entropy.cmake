# SPDX-License-Identifier: MIT
tk_op_uses(gemm cross_entropy)
# element type
foreach(t bf16 fp16)
  tk_host_instance(linear_cross_entropy_${t} ops/linear_cross_entropy/run.hpp "tk::linear_cross_entropy_run<tk::${t}>")
endforeach()
