# SPDX-License-Identifier: MIT
# element type
foreach(t tk::bf16 tk::fp16 float)
  string(REPLACE tk:: "" name ${t})
  tk_instance(activation_backward_${name} ops/activation/run_backward.hpp "tk::activation_backward_run<${t}>")
endforeach()
