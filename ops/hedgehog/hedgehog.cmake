# SPDX-License-Identifier: MIT
tk_op_uses(linear_attention)
foreach(t bf16 fp16)
  tk_instance(hedgehog_${t} ops/hedgehog/run.hpp "tk::hedgehog_run<tk::${t}>")
  tk_instance(hedgehog_step_${t} ops/hedgehog/token_step.hpp "tk::hedgehog_step_run<tk::${t}>")
endforeach()
