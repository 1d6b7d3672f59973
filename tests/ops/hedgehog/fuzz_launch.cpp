// SPDX-License-Identifier: MIT
// What stands in for Hedgehog's kernels in the fuzzer.
#include "ops/hedgehog/hedgehog.h"
#include "ops/hedgehog/scan.hpp"
#include "tests/ops/attention/fuzz_launch.hpp"

namespace fuzz {
namespace {

constexpr int parts = 2;

seen_tensor const& of(char const* name) { return seen(*running.seen, name); }

void check_map(tk::feature_map const& x, char const* name) {
  auto const& t = of(name);
  agree(static_cast<tk::any_tensor const&>(x), t);
  require(x.h == t.size[0] && x.h_stride == t.stride[0] && x.d_stride == t.stride[1],
          "a map changed");
}
void check_factors(tk::head_numbers const& x, char const* name) {
  auto const& t = of(name);
  at(x.data, t, "factors moved");
  require(x.h == t.size[0] && x.stride == t.stride[0], "factors changed");
}
void check_state(tk::state_tensor const& x, tk::sum_tensor const& y, char const* kv,
                 char const* k) {
  auto const &t = of(kv), &u = of(k);
  require(x.given == t.looked_at && y.given == u.looked_at, "a state appeared or went");
  at(y.data, u, "sums moved");
  if (!t.looked_at) return require(!x.data, "a state without a tensor");
  agree(static_cast<tk::any_tensor const&>(x), t);
  require(x.b == t.size[0] && x.h == t.size[1] && x.d == t.size[2] && x.dv == t.size[3] &&
              x.b_stride == t.stride[0] && x.h_stride == t.stride[1] && x.d_stride == t.stride[2],
          "a state changed");
  require(y.b == u.size[0] && y.h == u.size[1] && y.b_stride == u.stride[0] &&
              y.h_stride == u.stride[1],
          "sums changed");
}

void check_rows(tk::hedgehog_rows const& x) {
  auto const &q = of("q"), &k = of("k"), &starts = of("starts"), &key_starts = of("key_starts");
  bool const packed = starts.looked_at;
  std::size_t const n = packed ? 0 : 1;
  std::int64_t const b = packed ? starts.size[0] - 1 : q.size[0];
  require(x.keys.is_packed == packed && x.keys.n == k.size[n] && x.nq == q.size[n] &&
              x.keys.h == q.size[n + 1] && x.keys.b == b,
          "the rows of a scan changed");
  at(x.queries.starts, starts, "starts moved");
  at(x.keys.packed.starts, key_starts.looked_at ? key_starts : starts, "key_starts moved");
  at(x.lengths, of("lengths"), "lengths moved");
  if (packed)
    require(x.queries.sequences == b && x.queries.total == x.nq && x.keys.packed.sequences == b &&
                x.keys.packed.total == x.keys.n,
            "packed sequences changed");
}

void check_workspace(tk::hedgehog_scan_problem const& x) {
  if (!x.states) return require(running.needed == 0 && !x.sums, "a workspace without states");
  wide const states = wide(x.rows.keys.blocks(1024)) * x.rows.keys.h,
             from = address_of(x.states) - address_of(running.workspace),
             sums = address_of(x.sums) - address_of(running.workspace);
  require(from >= wide(tk::counter_bytes) && from % 16 == 0 && sums % 16 == 0 &&
              from + states * 128 * 128 * 4 <= sums &&
              sums + states * 128 * 4 <= wide(running.needed),
          "states do not fit");
}

template <class T> void launch(tk::hedgehog_scan_problem const& x, void* stream) {
  begin(TK_OP_HEDGEHOG, running.workspace, stream);
  auto const& p = x.of;
  bool const packed = of("starts").looked_at;
  require(is_of<T>(p.q), "another instance was chosen");
  agree(p.q, of("q"), packed);
  agree(p.k, of("k"), packed);
  agree(p.v, of("v"), packed);
  agree(p.o, of("o"), packed);
  check_map(p.map_q, "map_q");
  check_map(p.map_k, "map_k");
  check_factors(p.alpha, "alpha");
  check_factors(p.beta, "beta");
  check_state(p.initial_kv, p.initial_k, "initial_kv", "initial_k");
  check_state(p.final_kv, p.final_k, "final_kv", "final_k");
  auto const& numbers = of("normaliser");
  at(p.normaliser.data, numbers, "the normaliser moved");
  if (numbers.looked_at)
    require((packed || p.normaliser.b_stride == numbers.stride[0]) &&
                p.normaliser.h_stride == numbers.stride[packed ? 0 : 1],
            "the normaliser's strides changed");
  check_rows(x.rows);
  check_workspace(x);
  auto const given = running.seen->problem<tk_hedgehog_problem>();
  require(p.scale == given.scale && (p.repeat == tk::repeat_kind::row) == (given.repeat == 1),
          "an option changed");
  touch();
}

}  // namespace
}  // namespace fuzz

namespace tk {

template <class T> hedgehog_run_sizes hedgehog_run<T>::sizes() { return {fuzz::parts}; }
template <class T> void hedgehog_run<T>::launch(hedgehog_scan_problem const& x, void* stream) {
  fuzz::launch<T>(x, stream);
}
template struct hedgehog_run<bf16>;
template struct hedgehog_run<fp16>;

}  // namespace tk
