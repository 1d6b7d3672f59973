# SPDX-License-Identifier: MIT
# element type, columns of q and k; the backward scans with the same
foreach(t bf16 fp16)
  foreach(d 64 128 256)
    tk_instance(linear_attention_${t}_${d} ops/linear_attention/run.hpp
                "tk::chunk_scan_run<tk::${t}, ${d}, tk::linear_scans>")
  endforeach()
endforeach()
foreach(t bf16 fp16)
  tk_instance(linear_attention_step_${t} ops/linear_attention/token_step.hpp
              "tk::token_step_run<tk::${t}, tk::linear_scans>")
endforeach()
tk_instance(linear_attention_decays ops/linear_attention/chunk_decays.hpp
            "tk::chunk_decays_run<float>")
