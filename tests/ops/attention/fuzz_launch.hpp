// SPDX-License-Identifier: MIT
// What stands in for attention's kernels in the fuzzer: what their problems have in common.
#pragma once
#include "ops/attention/attention_options.h"
#include "ops/attention/problem.hpp"
#include "tests/fuzz/launch.hpp"

namespace fuzz {

inline void agree(tk::heads const& x, seen_tensor const& t, bool packed) {
  agree(static_cast<tk::any_tensor const&>(x), t);
  std::size_t const n = packed ? 0 : 1;
  require(x.b == (packed ? 1 : t.size[0]) && x.n == t.size[n] && x.h == t.size[n + 1] &&
              x.d == t.size[n + 2],
          "sizes of heads changed");
  require((packed || x.b_stride == t.stride[0]) && x.n_stride == t.stride[n] &&
              x.h_stride == t.stride[n + 1],
          "strides of heads changed");
}

template <class Given, class Problem> void check_options(Problem const& x, seen_call const& call) {
  auto const given = call.part<tk_attention_options>();
  auto const &alibi = seen(call, "alibi"), &bias = seen(call, "bias"), &sinks = seen(call, "sinks"),
             &q_starts = seen(call, "q_starts"), &k_starts = seen(call, "k_starts");
  auto const& y = x.terms;
  bool const right = given.has_window_right != 0 && given.window_right < x.q.n;
  bool const causal =
      call.problem<Given>().mask == TK_MASK_CAUSAL || (right && given.window_right == 0);
  require((x.mask == tk::mask_kind::causal) == causal, "the mask changed");
  require(y.has_left == (given.has_window_left != 0 && given.window_left < x.k.n) &&
              (!y.has_left || y.left == given.window_left) && y.left >= 0 && y.left <= x.k.n,
          "the left window changed");
  require(y.has_right == (right && !causal) && y.right >= 0 && y.right <= x.q.n &&
              (!y.has_right || y.right == given.window_right),
          "the right window changed");
  require(y.softcap == given.softcap && y.dropout >= 0 && y.dropout <= 255, "numbers changed");
  require(y.seed == given.seed && y.offset == given.offset, "the seed changed");
  at(y.alibi.data, alibi, "alibi moved");
  at(y.sinks.data, sinks, "sinks moved");
  at(y.bias.data, bias, "bias moved");
  at(y.q_starts, q_starts, "q_starts moved");
  at(y.k_starts, k_starts, "k_starts moved");
  at(y.random_state, seen(call, "random_state"), "random_state moved");
  require(y.packed == q_starts.looked_at && y.alibi.given == alibi.looked_at &&
              y.bias.given == bias.looked_at && y.sinks.given == sinks.looked_at,
          "an option appeared or went");
}

}  // namespace fuzz
