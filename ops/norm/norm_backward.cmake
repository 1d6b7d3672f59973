# SPDX-License-Identifier: MIT
# element type
foreach(t tk::bf16 tk::fp16 float)
  string(REPLACE tk:: "" name ${t})
  tk_instance(norm_backward_${name} ops/norm/run_backward.hpp "tk::norm_backward_run<${t}>")
  tk_instance(norm_backward_dropout_${name} ops/norm/run_backward.hpp "tk::norm_backward_run<${t}, ${t}, true>")
endforeach()
# r, dr and dresidual in fp32 beside 16 bits, with and without dropout
foreach(t bf16 fp16)
  tk_instance(norm_backward_stream_${t} ops/norm/run_backward.hpp "tk::norm_backward_run<tk::${t}, float, true>")
endforeach()
