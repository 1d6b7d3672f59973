# SPDX-License-Identifier: MIT
# element type, that of cos and sin
foreach(types "tk::bf16, tk::bf16" "tk::bf16, float" "tk::fp16, tk::fp16" "tk::fp16, float" "float, float")
  string(REPLACE tk:: "" name ${types})
  string(REPLACE ", " "_" name ${name})
  tk_instance(rotary_${name} ops/rotary/run.hpp "tk::rotary_run<${types}>")
endforeach()
