# SPDX-License-Identifier: MIT
# element type, transpose_a, transpose_b
foreach(t bf16 fp16)
  foreach(transpose_a false true)
    foreach(transpose_b false true)
      tk_instance(gemm_${t}_${transpose_a}_${transpose_b} ops/gemm/run.hpp
                  "tk::gemm_run<tk::${t}, ${transpose_a}, ${transpose_b}>")
    endforeach()
  endforeach()
endforeach()
# its operands, where they lie badly: any elements of that size
tk_instance(gemm_repack ops/gemm/repack.hpp "tk::repack_run<tk::bf16>")
