# SPDX-License-Identifier: MIT
# type of numbers; element types of dy and dtable
foreach(bits 32 64)
  tk_instance(embedding_order_int${bits} ops/embedding/embedding_order.hpp "tk::embedding_order<std::int${bits}_t>")
endforeach()
foreach(types "tk::bf16, tk::bf16" "tk::bf16, float" "tk::fp16, tk::fp16" "tk::fp16, float" "float, float")
  string(REPLACE tk:: "" name ${types})
  string(REPLACE ", " "_" name ${name})
  tk_instance(embedding_backward_${name} ops/embedding/run_backward.hpp "tk::embedding_backward_run<${types}>")
endforeach()
