# SPDX-License-Identifier: MIT
tk_op_uses(linear_attention)
foreach(t bf16 fp16)
  tk_instance(hedgehog_backward_${t} ops/hedgehog/run_backward.hpp
              "tk::hedgehog_backward_run<tk::${t}>")
endforeach()
