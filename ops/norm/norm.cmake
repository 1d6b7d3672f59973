# SPDX-License-Identifier: MIT
# element type
foreach(t tk::bf16 tk::fp16 float)
  string(REPLACE tk:: "" name ${t})
  tk_instance(norm_${name} ops/norm/run.hpp "tk::norm_run<${t}>")
  tk_instance(norm_dropout_${name} ops/norm/run.hpp "tk::norm_run<${t}, ${t}, true>")
endforeach()
# y in fp8 beside 16 bits, without dropout
foreach(t bf16 fp16)
  tk_instance(norm_fp8_${t} ops/norm/run.hpp "tk::norm_run<tk::${t}, tk::${t}, false, true>")
endforeach()
# residual and r in fp32 beside 16 bits, with and without dropout
foreach(t bf16 fp16)
  tk_instance(norm_stream_${t} ops/norm/run.hpp "tk::norm_run<tk::${t}, float, true>")
endforeach()
