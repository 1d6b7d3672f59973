# SPDX-License-Identifier: MIT
# size of the transforms, element type
foreach(size 16 32 64 128)
  tk_instance(fft_conv_filters_${size} ops/fft_conv/run.hpp "tk::fft_filters_run<${size}>")
  foreach(t bf16 fp16)
    tk_instance(fft_conv_${t}_${size} ops/fft_conv/run.hpp "tk::fft_conv_run<tk::${t}, ${size}>")
  endforeach()
endforeach()
foreach(t bf16 fp16)
  tk_instance(fft_conv_${t}_short ops/fft_conv/run_short.hpp "tk::short_conv_run<tk::${t}>")
endforeach()
