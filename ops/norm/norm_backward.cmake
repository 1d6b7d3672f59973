# SPDX-License-Identifier: MIT
# element type
foreach(t tk::bf16 tk::fp16 float)
  string(REPLACE tk:: "" name ${t})
  tk_instance(norm_backward_${name} ops/norm/run_backward.hpp "tk::norm_backward_run<${t}>")
endforeach()
