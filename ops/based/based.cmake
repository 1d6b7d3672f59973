# SPDX-License-Identifier: MIT
tk_op_uses(linear_attention)
# element type, whether outputs are divided
foreach(t bf16 fp16)
  foreach(normalises false true)
    tk_instance(based_${t}_${normalises} ops/based/run.hpp
                "tk::based_run<tk::${t}, ${normalises}>")
  endforeach()
endforeach()
