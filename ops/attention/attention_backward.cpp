// SPDX-License-Identifier: MIT
// Chooses the compiled instance of attention_backward that a problem asks for.
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "core/element.hpp"
#include "core/status.hpp"
#include "ops/attention/backward_plan.hpp"

namespace tk {

template <class T, int D> struct attention_backward_run {
  static void launch(attention_backward_problem const& x, void* workspace, void* stream);
};

namespace {

// Tasks and steps are counted, and their corners addressed, in 31 bits. A block of 16 rows is at
// most four of either.
void check_size(attention_backward_problem const& x) {
  constexpr std::int64_t most = std::numeric_limits<int>::max() - 1024, tile = 16;
  if (x.q.n + x.k.n > most)
    throw error(status::unsupported, "nq + nk is " + std::to_string(x.q.n + x.k.n) +
                                         "; it must be 0 to " + std::to_string(most));
  auto const blocks = [](heads const& t) { return ((t.n + tile - 1) / tile) * t.h; };
  auto const of_batch = std::max(blocks(x.q), x.k.h) + blocks(x.k);
  if (of_batch > most / 4 / x.q.b)
    throw error(status::unsupported, "q and k have " + std::to_string(x.q.b) + " times " +
                                         std::to_string(of_batch) +
                                         " blocks of 16 rows of a head; all must be at most " +
                                         std::to_string(most / 4));
  if (!(std::fabs(x.scale) < 0x1p126f))
    throw error(status::unsupported,
                "scale is " + std::to_string(x.scale) + "; its magnitude must be below 2^126");
}

template <class Body> auto with_size(attention_backward_problem const& x, Body body) {
  auto const d = std::max(x.q.d, x.v.d);
  if (d <= 64) return body.template operator()<64>();
  if (d <= 128) return body.template operator()<128>();
  return body.template operator()<256>();
}

}  // namespace

void launch(attention_backward_problem const& x, void* workspace, void* stream) {
  check_size(x);
  with_size(x, [&]<int D>() {
    if (x.q.type == element::bf16) attention_backward_run<bf16, D>::launch(x, workspace, stream);
    else attention_backward_run<fp16, D>::launch(x, workspace, stream);
  });
}

std::size_t workspace_bytes(attention_backward_problem const& x) {
  check_size(x);
  return with_size(x, [&]<int D>() {
    return attention_backward_layout::of<D>(attention_backward_sizes(x)).bytes;
  });
}

}  // namespace tk
