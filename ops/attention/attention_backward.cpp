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

template <class T, int D, option_set Options> struct attention_backward_run {
  static void launch(attention_backward_problem const& x, void* workspace, void* stream);
};
template <class T> struct attention_backward_sinks_run {
  static void launch(attention_backward_sums<T> const& x, void* stream);
};
template <class T> struct packed_starts_run {
  static void launch(packed_starts<T> const& x, void* stream);
};

namespace {

std::string number(std::int64_t n) { return std::to_string(n); }

// Tasks and steps are counted, and their corners addressed, in 31 bits. A block of 16 rows is at
// most four of either.
void check_size(attention_backward_problem const& x) {
  constexpr std::int64_t most = std::numeric_limits<int>::max() - 1024, tile = 16;
  bool const packed = x.terms.packed;
  if (x.q.n + x.k.n > most)
    throw error(status::unsupported, std::string(packed ? "total_q + total_k" : "nq + nk") +
                                         " is " + number(x.q.n + x.k.n) + "; it must be 0 to " +
                                         number(most));
  // In the workspace a sequence begins a block, which is at most `block` rows.
  constexpr std::int64_t block = 256;
  if (packed && x.terms.b > (most - x.q.n) / block)
    throw error(status::unsupported, "q has " + number(x.q.n) + " rows and " + number(x.terms.b) +
                                         " sequences; the rows and " + number(block) +
                                         " a sequence must be at most " + number(most));
  auto const blocks = [&](heads const& t) {
    return (packed ? t.n / tile + x.terms.b : (t.n + tile - 1) / tile) * t.h;
  };
  auto const of_batch = std::max({blocks(x.q), x.q.h, x.k.h}) + blocks(x.k);
  if (x.q.b > 0 && of_batch > most / 4 / x.q.b)
    throw error(status::unsupported,
                packed
                    ? "q and k have " + number(of_batch) +
                          " blocks of at most 16 rows of a sequence and head; all must be at "
                          "most " +
                          number(most / 4)
                    : "q and k have " + number(x.q.b) + " times " + number(of_batch) +
                          " blocks of 16 rows of a head; all must be at most " + number(most / 4));
  auto const& to = x.dbias;
  std::int64_t const rows = ((to.nq + tile - 1) / tile) * to.b * to.h,
                     columns = (to.nk + tile - 1) / tile;
  if (to.given && columns > 0 && rows > most / columns)
    throw error(status::unsupported, "dbias has " + number(rows) + " times " + number(columns) +
                                         " tiles of 16 x 16; all must be at most " + number(most));
  if (!(std::fabs(x.scale) < 0x1p126f))
    throw error(status::unsupported,
                "scale is " + std::to_string(x.scale) + "; its magnitude must be below 2^126");
}

// body<D, Options>()
template <class Body> auto with_instance(attention_backward_problem const& x, Body body) {
  auto const with_options = [&]<int D>() {
    switch (x.options()) {
      case option_set::none: return body.template operator()<D, option_set::none>();
      case option_set::seen: return body.template operator()<D, option_set::seen>();
      case option_set::all: break;
    }
    return body.template operator()<D, option_set::all>();
  };
  auto const d = std::max(x.q.d, x.v.d);
  if (d <= 64) return with_options.template operator()<64>();
  if (d <= 128) return with_options.template operator()<128>();
  return with_options.template operator()<256>();
}

// Where things lie in the workspace, and the rows of a head there.
struct placed_rows {
  attention_backward_layout at;
  int rows;
};
placed_rows place(attention_backward_problem const& x) {
  attention_backward_sizes const sizes(x);
  return with_instance(x, [&]<int D, option_set Options>() {
    using cut = attention_backward_cut<D, Options>;
    return placed_rows{attention_backward_layout::of<cut>(sizes),
                       sizes.query_blocks<cut>() * cut::queries};
  });
}

template <class T>
void launch_products(attention_backward_problem const& x, void* workspace, void* stream) {
  if (!x.has_rows() && !x.dbias.given) return;
  with_instance(x, [&]<int D, option_set Options>() {
    attention_backward_run<T, D, Options>::launch(x, workspace, stream);
  });
}

void launch_starts(attention_backward_problem const& x, void* workspace, void* stream) {
  auto const at = place(x).at;
  using starts = std::int32_t;
  packed_starts_run<starts>::launch(
      {{x.terms.q_starts, x.terms.k_starts},
       {in_workspace<starts>(workspace, at.q_starts), in_workspace<starts>(workspace, at.k_starts)},
       {attention_backward_sizes(x).nq, static_cast<int>(x.k.n)},
       static_cast<int>(x.terms.b + 1)},
      stream);
}

void launch_sinks(attention_backward_problem const& x, void* workspace, void* stream) {
  auto const [at, rows] = place(x);
  attention_backward_sinks_run<float>::launch(
      {in_workspace<float const>(workspace, at.lse), in_workspace<float const>(workspace, at.delta),
       x.terms.sinks, x.dsinks, x.dsinks_stride, x.has_rows() ? static_cast<int>(x.q.b) : 0,
       static_cast<int>(x.q.h), rows, x.terms.dropout},
      stream);
}

}  // namespace

void launch(attention_backward_problem const& x, void* workspace, void* stream) {
  check_size(x);
  if (x.terms.packed) launch_starts(x, workspace, stream);
  if (x.q.type == element::bf16) launch_products<bf16>(x, workspace, stream);
  else launch_products<fp16>(x, workspace, stream);
  if (x.wants_dsinks) launch_sinks(x, workspace, stream);
}

std::size_t workspace_bytes(attention_backward_problem const& x) {
  check_size(x);
  return place(x).at.bytes;
}

}  // namespace tk
