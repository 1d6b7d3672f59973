# SPDX-License-Identifier: MIT
# a's element type, that of b and y
foreach(a bf16 fp16 float)
  foreach(y bf16 fp16 float)
    set(types "tk::${a}, tk::${y}")
    string(REPLACE tk::float float types "${types}")
    tk_instance(add_${a}_${y} ops/add/run.hpp "tk::add_run<${types}>")
  endforeach()
endforeach()
