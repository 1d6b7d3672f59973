# SPDX-License-Identifier: MIT
# what stands for the elements of 1, 2 and 4 bytes
tk_instance(transpose_1 ops/transpose/run.hpp "tk::transpose_run<tk::fp8_e4m3>")
tk_instance(transpose_2 ops/transpose/run.hpp "tk::transpose_run<tk::bf16>")
tk_instance(transpose_4 ops/transpose/run.hpp "tk::transpose_run<float>")
