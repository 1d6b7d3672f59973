# SPDX-License-Identifier: MIT
# The template instances that libtk_ops is made of, each a source file of its own so that they
# compile in parallel: tk_instance(<file> <header> <type>).

# gemm: element type, transpose_a, transpose_b
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

# attention forward: element type, head size
foreach(t bf16 fp16)
  foreach(d 64 128 256)
    tk_instance(attention_forward_${t}_${d} ops/attention/run.hpp
                "tk::attention_forward_run<tk::${t}, ${d}>")
  endforeach()
endforeach()

# norm: element type
foreach(t tk::bf16 tk::fp16 float)
  string(REPLACE tk:: "" name ${t})
  tk_instance(norm_${name} ops/norm/run.hpp "tk::norm_run<${t}>")
endforeach()
