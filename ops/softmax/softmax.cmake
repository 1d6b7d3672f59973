# SPDX-License-Identifier: MIT
# element type, with a boolean mask or without
foreach(t tk::bf16 tk::fp16 float)
  string(REPLACE tk:: "" name ${t})
  tk_instance(softmax_${name} ops/softmax/run.hpp "tk::softmax_run<${t}, false>")
  tk_instance(softmax_masked_${name} ops/softmax/run.hpp "tk::softmax_run<${t}, true>")
endforeach()
