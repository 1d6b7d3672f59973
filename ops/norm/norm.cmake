# SPDX-License-Identifier: MIT
# element type
foreach(t tk::bf16 tk::fp16 float)
  string(REPLACE tk:: "" name ${t})
  tk_instance(norm_${name} ops/norm/run.hpp "tk::norm_run<${t}>")
endforeach()
