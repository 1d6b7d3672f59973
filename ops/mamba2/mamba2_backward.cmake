# SPDX-License-Identifier: MIT
# Its scans are those of mamba2.cmake; element type
tk_op_uses(linear_attention)
foreach(t bf16 fp16)
  tk_instance(mamba2_backward_${t} ops/mamba2/run_backward.hpp "tk::mamba2_backward_run<tk::${t}>")
endforeach()
