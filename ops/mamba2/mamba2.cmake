# SPDX-License-Identifier: MIT
tk_op_uses(linear_attention)
# element type, columns of B and C; the backward scans with the same
foreach(t bf16 fp16)
  foreach(d 64 128 256)
    tk_instance(mamba2_${t}_${d} ops/mamba2/run.hpp
                "tk::chunk_scan_run<tk::${t}, ${d}, tk::ssm_scans>")
  endforeach()
endforeach()
foreach(t bf16 fp16)
  tk_instance(mamba2_step_${t} ops/mamba2/token_step.hpp "tk::token_step_run<tk::${t}, tk::ssm_scans>")
endforeach()
# type of dt
foreach(t tk::bf16 tk::fp16 float)
  string(REPLACE tk:: "" name ${t})
  tk_instance(mamba2_steps_${name} ops/mamba2/steps.hpp "tk::mamba2_steps_run<${t}>")
endforeach()
