# SPDX-License-Identifier: MIT
# element type of x, of y
tk_instance(quantise_largest_scale ops/quantise/run_largest.hpp "tk::largest_scale_run<float>")
foreach(t tk::bf16 tk::fp16 float)
  foreach(f tk::fp8_e4m3 tk::fp8_e5m2)
    string(REPLACE tk:: "" name ${t}_${f})
    tk_instance(quantise_${name} ops/quantise/run.hpp "tk::quantise_run<${t}, ${f}>")
  endforeach()
endforeach()
