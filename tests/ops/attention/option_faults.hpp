// SPDX-License-Identifier: MIT
// What can be wrong with attention's options, in a scene of any of its ops.
#pragma once
#include "tests/support/refusals.hpp"

namespace scene {

template <class Scene> std::vector<spoiled<Scene>> number_faults() {
  using s = Scene;
  constexpr auto inf = std::numeric_limits<float>::infinity();
  return {
      {"size",
       [](s& x) { x.options.size = 104; },
       TK_BAD_STRUCT,
       {"options's size is 104", "first version had 112"}},
      {"window switch",
       [](s& x) { x.options.has_window_left = 2; },
       TK_BAD_VALUE,
       {"has_window_left is 2", "0 or 1"}},
      {"other window switch",
       [](s& x) { x.options.has_window_right = -1; },
       TK_BAD_VALUE,
       {"has_window_right is -1", "0 or 1"}},
      {"window without switch",
       [](s& x) { x.options.has_window_left = 0, x.options.window_left = 3; },
       TK_BAD_VALUE,
       {"window_left is 3", "has_window_left is 0"}},
      {"other window without switch",
       [](s& x) { x.options.has_window_right = 0, x.options.window_right = 1; },
       TK_BAD_VALUE,
       {"window_right is 1", "has_window_right is 0"}},
      {"negative window",
       [](s& x) { x.options.has_window_left = 1, x.options.window_left = -1; },
       TK_BAD_VALUE,
       {"window_left is -1", "0 or more"}},
      {"other negative window",
       [](s& x) { x.options.has_window_right = 1, x.options.window_right = -7; },
       TK_BAD_VALUE,
       {"window_right is -7", "0 or more"}},
      {"softcap", [](s& x) { x.options.softcap = -1; }, TK_BAD_VALUE, {"softcap is -1", "2^-64"}},
      {"small softcap", [](s& x) { x.options.softcap = 0x1p-65f; }, TK_BAD_VALUE, {"softcap is"}},
      {"large softcap", [](s& x) { x.options.softcap = 0x1p65f; }, TK_BAD_VALUE, {"softcap is"}},
      {"softcap nan", [](s& x) { x.options.softcap = inf - inf; }, TK_BAD_VALUE, {"softcap is"}},
      {"dropout 1", [](s& x) { x.options.dropout = 1; }, TK_BAD_VALUE, {"dropout is 1", "255/256"}},
      {"dropout", [](s& x) { x.options.dropout = -0.5f; }, TK_BAD_VALUE, {"dropout is -0.5"}},
      {"dropout nan", [](s& x) { x.options.dropout = inf - inf; }, TK_BAD_VALUE, {"dropout is"}},
      {"max_nq", [](s& x) { x.options.max_nq = -1; }, TK_BAD_VALUE, {"max_nq is -1"}},
      {"large max_nk",
       [](s& x) { x.options.max_nk = std::int64_t{1} << 31; },
       TK_BAD_VALUE,
       {"max_nk is 2147483648", "2147482623"}},
  };
}

template <class Scene> std::vector<spoiled<Scene>> option_faults() {
  using s = Scene;
  return {
      {"max_nq, not packed",
       [](s& x) { x.options.max_nq = 5; },
       TK_BAD_VALUE,
       {"max_nq is 5", "q_starts is NULL"}},
      {"max_nk, not packed",
       [](s& x) { x.options.max_nk = 7; },
       TK_BAD_VALUE,
       {"max_nk is 7", "q_starts is NULL"}},
      {"alibi hq", [](s& x) { x.alibi.shape[1] = 3; }, TK_BAD_SHAPE, {"alibi has hq = 3", "4"}},
      {"alibi b", [](s& x) { x.alibi.shape[0] = 1; }, TK_BAD_SHAPE, {"alibi has b = 1", "2"}},
      {"sinks", [](s& x) { x.sinks.shape[0] = 2; }, TK_BAD_SHAPE, {"sinks has hq = 2", "4"}},
      {"bias b", [](s& x) { x.bias.shape[0] = 3; }, TK_BAD_SHAPE, {"bias has b = 3", "2 or 1"}},
      {"bias hq", [](s& x) { x.bias.shape[1] = 2; }, TK_BAD_SHAPE, {"bias has hq = 2", "4 or 1"}},
      {"bias nq", [](s& x) { x.bias.shape[2] = 4; }, TK_BAD_SHAPE, {"bias has nq = 4", "5"}},
      {"bias nk", [](s& x) { x.bias.shape[3] = 1; }, TK_BAD_SHAPE, {"bias has nk = 1", "7"}},
      {"bias type", [](s& x) { x.bias.dl.dtype = fp16; }, TK_BAD_TYPE, {"bias", "fp32 or"}},
      {"alibi type", [](s& x) { x.alibi.dl.dtype = bf16; }, TK_BAD_TYPE, {"alibi", "fp32"}},
      {"state type",
       [](s& x) { x.random_state.dl.dtype = fp32; },
       TK_BAD_TYPE,
       {"int64 or uint64"}},
      {"state",
       [](s& x) { x.random_state.shape[0] = 3; },
       TK_BAD_SHAPE,
       {"random_state has 2 = 3", "2"}},
  };
}

template <class Scene> std::vector<spoiled<Scene>> packed_faults() {
  using s = Scene;
  return {
      {"four dimensions", [](s& x) { x.q.dl.ndim = 4; }, TK_BAD_RANK, {"q has 4 dimensions", "3"}},
      {"rows of o", [](s& x) { x.o.shape[0] = 9; }, TK_BAD_SHAPE, {"o has total_q = 9", "10"}},
      {"keys", [](s& x) { x.v.shape[0] = 13; }, TK_BAD_SHAPE, {"v has total_k = 13", "14"}},
      {"d", [](s& x) { x.k.shape[2] = 8; }, TK_BAD_SHAPE, {"k has d = 8", "16"}},
      {"groups", [](s& x) { x.k.shape[1] = x.v.shape[1] = 3; }, TK_BAD_SHAPE, {"hq = 4", "hk = 3"}},
      {"d 12", [](s& x) { x.q.shape[2] = x.k.shape[2] = 12; }, TK_UNSUPPORTED, {"d = 12"}},
      {"lse", [](s& x) { x.lse.shape[1] = 9; }, TK_BAD_SHAPE, {"lse has total_q = 9", "10"}},
      {"lse hq", [](s& x) { x.lse.shape[0] = 2; }, TK_BAD_SHAPE, {"lse has hq = 2", "4"}},
      {"sequences",
       [](s& x) { x.k_starts.shape[0] = 2; },
       TK_BAD_SHAPE,
       {"k_starts has b + 1 = 2", "q_starts", "3"}},
      {"no offsets",
       [](s& x) { x.q_starts.shape[0] = x.k_starts.shape[0] = 0; },
       TK_BAD_SHAPE,
       {"q_starts has b + 1 = 0"}},
      {"offsets' type",
       [](s& x) { x.q_starts.dl.dtype = {kDLInt, 64, 1}; },
       TK_BAD_TYPE,
       {"q_starts is int64", "int32"}},
      {"bias nq", [](s& x) { x.bias.shape[2] = 10; }, TK_BAD_SHAPE, {"bias has max_nq = 10", "5"}},
      {"bias b", [](s& x) { x.bias.shape[0] = 3; }, TK_BAD_SHAPE, {"bias has b = 3", "2 or 1"}},
  };
}

}  // namespace scene
