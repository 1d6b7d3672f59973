// SPDX-License-Identifier: MIT
// Chooses the compiled instance of attention_forward that a problem asks for.
#include <algorithm>
#include <limits>
#include <string>

#include "core/element.hpp"
#include "core/status.hpp"
#include "ops/attention/problem.hpp"

namespace tk {

template <class T, int D> struct attention_forward_run {
  static void launch(attention_forward_problem const& x, void* workspace, void* stream);
};

namespace {

// Tasks are counted, and their corners addressed, in 31 bits.
void check_size(attention_forward_problem const& x) {
  constexpr std::int64_t most = std::numeric_limits<int>::max() - 1024, tile = 16;
  if (x.q.n + x.k.n > most)
    throw error(status::unsupported, "nq + nk is " + std::to_string(x.q.n + x.k.n) +
                                         "; it must be 0 to " + std::to_string(most));
  auto const of_batch = ((x.q.n + tile - 1) / tile) * x.q.h;
  if (of_batch > most / x.q.b)
    throw error(status::unsupported,
                "q has " + std::to_string(x.q.b) + " times " + std::to_string(of_batch) +
                    " blocks of 16 rows of a head; all must be at most " + std::to_string(most));
}

template <class T> void choose(attention_forward_problem const& x, void* workspace, void* stream) {
  auto const d = std::max(x.q.d, x.v.d);
  if (d <= 64) attention_forward_run<T, 64>::launch(x, workspace, stream);
  else if (d <= 128) attention_forward_run<T, 128>::launch(x, workspace, stream);
  else attention_forward_run<T, 256>::launch(x, workspace, stream);
}

}  // namespace

void launch(attention_forward_problem const& x, void* workspace, void* stream) {
  check_size(x);
  if (x.q.type == element::bf16) choose<bf16>(x, workspace, stream);
  else choose<fp16>(x, workspace, stream);
}

// Causal tasks differ in length and are dealt on demand, which takes a counter.
std::size_t workspace_bytes(attention_forward_problem const& x) {
  check_size(x);
  workspace_layout layout;
  if (x.mask == mask_kind::causal) layout.add_counters();
  return layout.bytes();
}

}  // namespace tk
