# SPDX-License-Identifier: MIT
# element type, head size
foreach(t bf16 fp16)
  foreach(d 64 96 128 192 256)
    tk_instance(attention_forward_${t}_${d} ops/attention/run.hpp
                "tk::attention_forward_run<tk::${t}, ${d}, tk::option_set::none>")
  endforeach()
  foreach(d 64 128 256)
    tk_instance(attention_forward_seen_${t}_${d} ops/attention/run.hpp
                "tk::attention_forward_run<tk::${t}, ${d}, tk::option_set::seen>")
    tk_instance(attention_forward_general_${t}_${d} ops/attention/run.hpp
                "tk::attention_forward_run<tk::${t}, ${d}, tk::option_set::all>")
  endforeach()
endforeach()
