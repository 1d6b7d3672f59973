# SPDX-License-Identifier: MIT
tk_op_uses(linear_attention)
# element type, whether outputs are divided
foreach(t bf16 fp16)
  foreach(normalises false true)
    tk_instance(based_${t}_${normalises} ops/based/run.hpp
                "tk::based_run<tk::${t}, ${normalises}>")
  endforeach()
  tk_instance(based_step_${t} ops/based/token_step.hpp "tk::based_step_run<tk::${t}>")
endforeach()
