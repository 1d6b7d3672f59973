# SPDX-License-Identifier: MIT
# element type
foreach(t tk::bf16 tk::fp16 float)
  string(REPLACE tk:: "" name ${t})
  tk_instance(activation_${name} ops/activation/run.hpp "tk::activation_run<${t}>")
endforeach()
