# SPDX-License-Identifier: MIT
# Its scans are those of linear_attention.cmake; element type
foreach(t bf16 fp16)
  tk_instance(linear_attention_backward_${t} ops/linear_attention/decay_gradient.hpp
              "tk::decay_gradient_run<tk::${t}>")
endforeach()
