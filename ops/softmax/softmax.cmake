# SPDX-License-Identifier: MIT
# element type
foreach(t tk::bf16 tk::fp16 float)
  string(REPLACE tk:: "" name ${t})
  tk_instance(softmax_${name} ops/softmax/run.hpp "tk::softmax_run<${t}>")
endforeach()
