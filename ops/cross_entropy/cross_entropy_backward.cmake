# SPDX-License-Identifier: MIT
# element type
foreach(t tk::bf16 tk::fp16 float)
  string(REPLACE tk:: "" name ${t})
  tk_instance(cross_entropy_backward_${name} ops/cross_entropy/run_backward.hpp
              "tk::cross_entropy_backward_run<${t}>")
endforeach()
