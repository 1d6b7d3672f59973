# SPDX-License-Identifier: MIT
# element type
foreach(t tk::bf16 tk::fp16 float)
  string(REPLACE tk:: "" name ${t})
  tk_instance(topk_${name} ops/topk/run.hpp "tk::topk_run<${t}>")
endforeach()
