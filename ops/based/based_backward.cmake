# SPDX-License-Identifier: MIT
# Its scans are linear attention's; element type
tk_op_uses(linear_attention)
foreach(t bf16 fp16)
  tk_instance(based_backward_${t} ops/based/run_backward.hpp "tk::based_backward_run<tk::${t}>")
endforeach()
