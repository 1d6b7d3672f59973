# SPDX-License-Identifier: MIT
# Its scans are those of linear_attention.cmake
tk_instance(linear_attention_backward_decays ops/linear_attention/decay_gradient.hpp
            "tk::decay_gradient_run<float>")
