# SPDX-License-Identifier: MIT
foreach(type tk::bf16 tk::fp16 float)
  string(REPLACE tk:: "" name ${type})
  tk_instance(embedding_${name} ops/embedding/run.hpp "tk::embedding_run<${type}>")
endforeach()
