// SPDX-License-Identifier: MIT
// Chooses the compiled instance of attention_forward that a problem asks for.
#include <algorithm>
#include <limits>
#include <string>

#include "core/element.hpp"
#include "core/status.hpp"
#include "ops/attention/problem.hpp"

namespace tk {

template <class T, int D, option_set Options> struct attention_forward_run {
  static void launch(attention_forward_problem const& x, void* workspace, void* stream);
};

namespace {

// Tasks are counted, and their corners addressed, in 31 bits.
void check_size(attention_forward_problem const& x) {
  constexpr std::int64_t most = std::numeric_limits<int>::max() - 1024, tile = 16;
  auto const number = [](std::int64_t n) { return std::to_string(n); };
  if (x.q.n + x.k.n > most)
    throw error(status::unsupported, std::string(x.terms.packed ? "total_q + total_k" : "nq + nk") +
                                         " is " + number(x.q.n + x.k.n) + "; it must be 0 to " +
                                         number(most));
  if (x.terms.packed) {
    auto const blocks = x.q.n / tile + x.terms.b;
    if (blocks > most / x.q.h)
      throw error(status::unsupported, "q has " + number(x.q.h) + " times " + number(blocks) +
                                           " blocks of at most 16 rows of a sequence and head; " +
                                           "all must be at most " + number(most));
    return;
  }
  auto const of_batch = ((x.q.n + tile - 1) / tile) * x.q.h;
  if (of_batch > most / x.q.b)
    throw error(status::unsupported, "q has " + number(x.q.b) + " times " + number(of_batch) +
                                         " blocks of 16 rows of a head; all must be at most " +
                                         number(most));
}

// The least of the compiled head sizes, in ascending order, that holds the problem's.
template <class T, option_set Options, int D, int... Larger>
void choose(attention_forward_problem const& x, void* workspace, void* stream) {
  if constexpr (sizeof...(Larger) > 0) {
    if (std::max(x.q.d, x.v.d) > D) return choose<T, Options, Larger...>(x, workspace, stream);
  }
  attention_forward_run<T, D, Options>::launch(x, workspace, stream);
}
template <class T> void choose(attention_forward_problem const& x, void* workspace, void* stream) {
  switch (x.options()) {
    case option_set::none:
      return choose<T, option_set::none, 64, 96, 128, 192, 256>(x, workspace, stream);
    case option_set::seen: return choose<T, option_set::seen, 64, 128, 256>(x, workspace, stream);
    case option_set::all: break;
  }
  choose<T, option_set::all, 64, 128, 256>(x, workspace, stream);
}

}  // namespace

void launch(attention_forward_problem const& x, void* workspace, void* stream) {
  check_size(x);
  if (x.q.type == element::bf16) choose<bf16>(x, workspace, stream);
  else choose<fp16>(x, workspace, stream);
}

// Tasks that differ in length are dealt on demand, which takes a counter.
std::size_t workspace_bytes(attention_forward_problem const& x) {
  check_size(x);
  workspace_layout layout;
  if (x.mask == mask_kind::causal || x.options() != option_set::none) layout.add_counters();
  return layout.bytes();
}

}  // namespace tk
