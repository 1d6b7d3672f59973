// SPDX-License-Identifier: MIT
// The C++ interface of conv1d_backward, header-only over conv1d_backward.h.
#pragma once
#include "ops/conv1d/conv1d_backward.h"
#include "ops/tk_base.hpp"

namespace tk {

struct conv1d_backward_options {
  tensor_view bias{}, initial_state{}, starts{};       // those of conv1d()
  tensor_view dfinal_state{};                          // of final_state, 0 where absent
  output_view dweight{}, dbias{}, dinitial_state{};    // not written where absent
  tk_activation_kind activation = TK_ACTIVATION_NONE;  // or TK_ACTIVATION_SILU
  void* workspace = nullptr;                           // conv1d_backward_workspace() bytes
  std::size_t workspace_bytes = 0;
  tk_repeat repeat = TK_REPEAT_RUN;
  tk::stream stream{};
};

namespace detail {

inline tk_conv1d_backward_problem problem(tensor_view const& x, tensor_view const& weight,
                                          tensor_view const& dy, output_view const& dx,
                                          conv1d_backward_options const& o) {
  return {.size = sizeof(tk_conv1d_backward_problem),
          .x = x.get(),
          .weight = weight.get(),
          .bias = o.bias.get(),
          .dy = dy.get(),
          .initial_state = o.initial_state.get(),
          .dfinal_state = o.dfinal_state.get(),
          .starts = o.starts.get(),
          .dx = dx.get(),
          .dweight = o.dweight.get(),
          .dbias = o.dbias.get(),
          .dinitial_state = o.dinitial_state.get(),
          .activation = o.activation,
          .reserved_activation = 0,
          .repeat = o.repeat,
          .reserved = 0};
}

}  // namespace detail

// The gradients of what conv1d() computed of the same x, weight, bias, initial_state, starts and
// activation, from dy and dfinal_state: dx of x's sizes and type, dweight [c, w] and dbias [c] of
// that type or fp32, dinitial_state. Throws tk::error before anything is launched or written.
inline void conv1d_backward(tensor_view const& x, tensor_view const& weight, tensor_view const& dy,
                            output_view const& dx, conv1d_backward_options const& options = {}) {
  auto const problem = detail::problem(x, weight, dy, dx, options);
  detail::require(tk_conv1d_backward(&problem, options.workspace, options.workspace_bytes,
                                     options.stream.handle()));
}

// Bytes of device memory that conv1d_backward() wants as workspace. Data pointers may be null.
inline std::size_t conv1d_backward_workspace(tensor_view const& x, tensor_view const& weight,
                                             tensor_view const& dy, output_view const& dx,
                                             conv1d_backward_options const& options = {}) {
  auto const problem = detail::problem(x, weight, dy, dx, options);
  return detail::workspace(TK_OP_CONV1D_BACKWARD, &problem);
}

// Why conv1d_backward() would refuse; nothing if it would not. Data pointers may be null.
inline std::optional<error> conv1d_backward_refusal(tensor_view const& x, tensor_view const& weight,
                                                    tensor_view const& dy, output_view const& dx,
                                                    conv1d_backward_options const& options = {}) {
  auto const problem = detail::problem(x, weight, dy, dx, options);
  return detail::refusal(tk_supports(TK_OP_CONV1D_BACKWARD, &problem));
}

}  // namespace tk
