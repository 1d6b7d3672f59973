# SPDX-License-Identifier: MIT
# Its scans are those of mamba2.cmake; element type, and columns of B and C
tk_op_uses(linear_attention)
foreach(t bf16 fp16)
  foreach(d 64 128 256)
    tk_instance(mamba2_gradients_${t}_${d} ops/mamba2/run_backward.hpp
                "tk::mamba2_gradients_run<tk::${t}, ${d}>")
  endforeach()
  tk_instance(mamba2_gate_${t} ops/mamba2/run_backward.hpp "tk::mamba2_gate_run<tk::${t}>")
endforeach()
tk_instance(mamba2_step_gradients ops/mamba2/run_backward.hpp "tk::mamba2_step_gradients_run<float>")
