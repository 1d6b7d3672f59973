# SPDX-License-Identifier: MIT
# element type, that of weight and bias
foreach(types "tk::bf16, tk::bf16" "tk::bf16, float" "tk::fp16, tk::fp16" "tk::fp16, float" "float, float")
  string(REPLACE tk:: "" name ${types})
  string(REPLACE ", " "_" name ${name})
  tk_instance(conv1d_${name} ops/conv1d/run.hpp "tk::conv1d_run<${types}>")
endforeach()
