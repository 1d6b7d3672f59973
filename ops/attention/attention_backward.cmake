# SPDX-License-Identifier: MIT
# element type, head size
foreach(t bf16 fp16)
  foreach(d 64 128 256)
    tk_instance(attention_backward_${t}_${d} ops/attention/run_backward.hpp
                "tk::attention_backward_run<tk::${t}, ${d}>")
  endforeach()
endforeach()
