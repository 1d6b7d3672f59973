# SPDX-License-Identifier: MIT
# element type
foreach(t tk::bf16 tk::fp16 float)
  string(REPLACE tk:: "" name ${t})
  tk_instance(softmax_backward_${name} ops/softmax/run_backward.hpp "tk::softmax_backward_run<${t}>")
endforeach()
