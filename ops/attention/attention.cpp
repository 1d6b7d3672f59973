// SPDX-License-Identifier: MIT
// Chooses the compiled instance of attention_forward that a problem asks for.
#include <algorithm>
#include <limits>
#include <string>

#include "core/element.hpp"
#include "core/status.hpp"
#include "ops/problem.hpp"

namespace tk {

template <class T, int D> struct attention_forward_run {
  static void launch(attention_forward_problem const& x, void* workspace, void* stream);
};

namespace {

// Tasks are counted, and their corners addressed, in 31 bits.
void check_size(attention_forward_problem const& x) {
  constexpr std::int64_t longest = std::numeric_limits<int>::max() - 1024, smallest_tile = 16;
  for (auto const size : {x.q.n, x.k.n, x.q.n + x.k.n})
    if (size > longest)
      throw error(status::unsupported,
                  "tk_attention_forward: nq + nk = " + std::to_string(x.q.n + x.k.n) +
                      " is above the limit of " + std::to_string(longest));
  double const tiles = (static_cast<double>(x.q.n) / smallest_tile + 1) *
                       static_cast<double>(x.q.h) * static_cast<double>(x.q.b);
  if (tiles > std::numeric_limits<int>::max())
    throw error(status::unsupported,
                "tk_attention_forward: q has more than 2^31 blocks of 16 rows and one head");
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
  return x.mask == mask_kind::causal ? counter_bytes : 0;
}

}  // namespace tk
