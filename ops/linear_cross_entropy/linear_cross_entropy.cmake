# SPDX-License-Identifier: MIT
tk_op_uses(gemm cross_entropy)
# element type
foreach(t bf16 fp16)
  tk_host_instance(linear_cross_entropy_${t} ops/linear_cross_entropy/run.hpp "tk::linear_cross_entropy_run<tk::${t}>")
endforeach()
foreach(t tk::bf16 tk::fp16 float)
  string(REPLACE tk:: "" name ${t})
  tk_instance(linear_cross_entropy_rows_${name} ops/linear_cross_entropy/ignored_rows.hpp "tk::ignored_rows_run<${t}>")
endforeach()
