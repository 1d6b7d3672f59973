# SPDX-License-Identifier: MIT
# element type, head size
foreach(t bf16 fp16)
  foreach(d 64 128 256)
    tk_instance(attention_backward_${t}_${d} ops/attention/run_backward.hpp
                "tk::attention_backward_run<tk::${t}, ${d}, tk::option_set::none>")
    tk_instance(attention_backward_seen_${t}_${d} ops/attention/run_backward.hpp
                "tk::attention_backward_run<tk::${t}, ${d}, tk::option_set::seen>")
    tk_instance(attention_backward_general_${t}_${d} ops/attention/run_backward.hpp
                "tk::attention_backward_run<tk::${t}, ${d}, tk::option_set::all>")
  endforeach()
endforeach()
tk_instance(attention_backward_sinks ops/attention/attention_backward_sinks.hpp
            "tk::attention_backward_sinks_run<float>")
tk_instance(packed_starts ops/attention/packed_starts.hpp "tk::packed_starts_run<std::int32_t>")
