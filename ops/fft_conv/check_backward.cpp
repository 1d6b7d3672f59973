// SPDX-License-Identifier: MIT
// The checks of tk_fft_conv_backward.
#include "ops/api/entry.hpp"
#include "ops/fft_conv/checks.hpp"
#include "ops/fft_conv/fft_conv_backward.h"

namespace tk::api {
namespace {

constexpr signature dy_is = sequences_are("dy"), du_is = sequences_are("du"),
                    dpre_is = sequences_are("dpre"), dpost_is = sequences_are("dpost"),
                    dk_is{"dk", fp32_only, 2, 2, {"h_k", "nk"}};

checked<fft_conv_backward_problem, 9> check(tk_fft_conv_backward_problem const& given, bool data) {
  expect_one_of("repeat", given.repeat, repeat_names);  // elements are alike either way
  expect_reserved(given.reserved);
  reading const how{data, be::rt::current_device()};

  checked<fft_conv_backward_problem, 9> result{};
  auto& [u, k, pre, post, dy, du, dk, dpre, dpost] = result.tensors;
  auto& problem = result.problem;
  static_cast<fft_conv_operands&>(problem) = read_operands(
      {u, k, pre, post},
      {given.u, given.k, given.pre, given.post, given.circular, given.filter_is_ready}, how);
  dy = read_sequences(given.dy, dy_is, u, how);
  if (given.du) du = read_sequences(given.du, du_is, u, how);
  if (given.dpre) dpre = read_sequences(given.dpre, dpre_is, u, how);
  if (given.dpost) dpost = read_sequences(given.dpost, dpost_is, u, how);
  if (given.dk) {
    dk = read(given.dk, dk_is, how);
    for (int axis = 0; axis < 2; ++axis) expect_same_size(dk, axis, k, axis);
  }
  problem.dy = as_sequences(dy);
  problem.du = as_sequences(du);
  problem.dpre = as_sequences(dpre);
  problem.dpost = as_sequences(dpost);
  problem.dk = as_filters(dk);
  problem.wants_dk = given.dk != nullptr;

  std::array const outputs{&du, &dk, &dpre, &dpost};
  for (auto const* output : outputs)
    if (output->is) expect_distinct_elements(*output);
  if (data)
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      for (auto const* input : {&u, &k, &pre, &post, &dy}) expect_apart(*outputs[i], *input);
      for (std::size_t j = i + 1; j < outputs.size(); ++j) expect_apart(*outputs[i], *outputs[j]);
    }
  bool const none = problem.u.b == 0 || problem.u.h == 0 || problem.u.n == 0;
  bool const sequences = !none && (given.du || given.dpre || given.dpost);
  result.empty = !sequences && !(given.dk && problem.k.h > 0 && problem.k.nk > 0);
  return result;
}

}  // namespace
}  // namespace tk::api

TK_ENTRY(fft_conv_backward, repeat, check)
