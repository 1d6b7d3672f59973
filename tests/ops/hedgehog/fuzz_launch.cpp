// SPDX-License-Identifier: MIT
// What stands in for Hedgehog's kernels in the fuzzer.
#include "ops/hedgehog/hedgehog.h"
#include "ops/hedgehog/hedgehog_backward.h"
#include "ops/hedgehog/scan.hpp"
#include "tests/ops/attention/fuzz_launch.hpp"

namespace fuzz {
namespace {

constexpr int parts = 2;

seen_tensor const& of(char const* name) { return seen(*running.seen, name); }
bool is_packed() { return of("starts").looked_at; }

void check_map(tk::feature_map const& x, char const* name) {
  auto const& t = of(name);
  if (!t.looked_at) return require(!x.data, "a map appeared");
  agree(static_cast<tk::any_tensor const&>(x), t);
  require(x.h == t.size[0] && x.h_stride == t.stride[0] && x.d_stride == t.stride[1],
          "a map changed");
}
void check_factors(tk::head_numbers const& x, char const* name) {
  auto const& t = of(name);
  at(x.data, t, "factors moved");
  if (t.looked_at) require(x.h == t.size[0] && x.stride == t.stride[0], "factors changed");
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

void check_rows(tk::hedgehog_rows const& x, bool has_queries = true) {
  auto const &q = of("q"), &k = of("k"), &starts = of("starts"), &key_starts = of("key_starts");
  bool const packed = is_packed();
  std::size_t const n = packed ? 0 : 1;
  std::int64_t const b = packed ? starts.size[0] - 1 : q.size[0];
  require(x.keys.is_packed == packed && x.keys.n == k.size[n] &&
              x.nq == (has_queries ? q.size[n] : 0) && x.keys.h == q.size[n + 1] && x.keys.b == b,
          "the rows of a scan changed");
  at(x.queries.starts, starts, "starts moved");
  at(x.keys.packed.starts, key_starts.looked_at ? key_starts : starts, "key_starts moved");
  at(x.lengths, of("lengths"), "lengths moved");
  if (packed)
    require(x.queries.sequences == b && x.queries.total == x.nq && x.keys.packed.sequences == b &&
                x.keys.packed.total == x.keys.n,
            "packed sequences changed");
}

template <class T, class Given> void check_inputs(tk::hedgehog_inputs const& x) {
  bool const packed = is_packed();
  require(is_of<T>(x.q), "another instance was chosen");
  agree(x.q, of("q"), packed);
  agree(x.k, of("k"), packed);
  agree(x.v, of("v"), packed);
  check_map(x.map_q, "map_q");
  check_map(x.map_k, "map_k");
  check_factors(x.alpha, "alpha");
  check_factors(x.beta, "beta");
  check_state(x.initial_kv, x.initial_k, "initial_kv", "initial_k");
  auto const& numbers = of("normaliser");
  at(x.normaliser.data, numbers, "the normaliser moved");
  if (numbers.looked_at)
    require((packed || x.normaliser.b_stride == numbers.stride[0]) &&
                x.normaliser.h_stride == numbers.stride[packed ? 0 : 1],
            "the normaliser's strides changed");
  auto const given = running.seen->problem<Given>();
  require(x.scale == given.scale && (x.repeat == tk::repeat_kind::row) == (given.repeat == 1),
          "an option changed");
}

// Offsets in the workspace, which lie one behind another.
class places {
 public:
  void next(float const* data, wide floats, char const* what) {
    if (floats == 0) return require(!data, what);
    wide const from = address_of(data) - address_of(running.workspace);
    require(from >= end_ && from % 16 == 0, what);
    end_ = from + floats * 4;
    require(end_ <= wide(running.needed), what);
  }

 private:
  wide end_ = tk::counter_bytes;
};

template <class T> void launch(tk::hedgehog_scan_problem const& x, bool as_step, void* stream) {
  auto const& p = x.of;
  // Keys of some sequences are added to their states by a second launch.
  bool const lengths = of("lengths").looked_at && x.rows.keys.n == 128,
             steps = !x.rows.keys.is_packed && p.q.n == 1 && (x.rows.keys.n < 128 || lengths) &&
                     running.seen->problem<tk_hedgehog_problem>().repeat == TK_REPEAT_RUN,
             adds = steps && lengths && p.final_kv.given;
  if (!x.adds_only) begin(TK_OP_HEDGEHOG, running.workspace, stream);
  else require(adds && running.launches == 1 && stream == running.stream, "a second launch");
  require(as_step == (steps && !x.adds_only), "a step as a block, or none as one");
  if (steps) require(!x.states, "a step in segments");
  check_inputs<T, tk_hedgehog_problem>(p);
  agree(p.o, of("o"), is_packed());
  check_state(p.final_kv, p.final_k, "final_kv", "final_k");
  check_rows(x.rows, !x.adds_only);
  if (!x.states) {
    require(running.needed == 0 && !x.sums, "a workspace without states");
  } else {
    wide const states = wide(x.rows.keys.blocks(1024)) * x.rows.keys.h;
    places at;
    at.next(x.states, states * 128 * 128, "states do not fit");
    at.next(x.sums, states * 128, "sums do not fit");
  }
  if (!adds || x.adds_only) touch();
}

template <class T> void launch(tk::hedgehog_gradient_problem const& x, void* stream) {
  begin(TK_OP_HEDGEHOG_BACKWARD, running.workspace, stream);
  auto const& p = x.of;
  bool const packed = is_packed();
  check_inputs<T, tk_hedgehog_backward_problem>(p);
  agree(p.o, of("o"), packed);
  agree(p.dout, of("dout"), packed);
  agree(p.dq, of("dq"), packed);
  agree(p.dk, of("dk"), packed);
  agree(p.dv, of("dv"), packed);
  check_map(p.dmap_q, "dmap_q");
  check_map(p.dmap_k, "dmap_k");
  check_factors(p.dalpha, "dalpha");
  check_factors(p.dbeta, "dbeta");
  check_state(p.dfinal_kv, p.dfinal_k, "dfinal_kv", "dfinal_k");
  check_state(p.dinitial_kv, p.dinitial_k, "dinitial_kv", "dinitial_k");
  check_rows(x.rows);
  wide const h = p.q.h, queries = wide(p.q.b) * p.q.n * h, keys = wide(p.k.b) * p.k.n * h;
  places at;
  for (auto const* numbers : {x.inverse, x.delta, x.top, x.edge})
    at.next(numbers, queries, "numbers of queries do not fit");
  at.next(x.du_q, 2 * queries * 64, "gradients of queries' features do not fit");
  at.next(x.du_k, 2 * keys * 64, "gradients of keys' features do not fit");
  at.next(x.linear_dv, 2 * keys * 128, "the linear part of dv does not fit");
  at.next(x.alpha_sums, 2 * wide(x.rows.keys.b) * h, "sums for alpha do not fit");
  at.next(x.beta_sums, wide(x.rows.keys.blocks(64)) * h, "sums for beta do not fit");
  at.next(x.dmaps, wide(x.rows.keys.blocks(1024)) * h * 128 * 64, "sums for maps do not fit");
  touch();
}

}  // namespace
}  // namespace fuzz

namespace tk {

template <class T> hedgehog_run_sizes hedgehog_run<T>::sizes() { return {fuzz::parts}; }
template <class T> void hedgehog_run<T>::launch(hedgehog_scan_problem const& x, void* stream) {
  fuzz::launch<T>(x, false, stream);
}
template <class T> void hedgehog_step_run<T>::launch(hedgehog_scan_problem const& x, void* stream) {
  fuzz::launch<T>(x, true, stream);
}
template <class T>
void hedgehog_backward_run<T>::launch(hedgehog_gradient_problem const& x, void* stream) {
  fuzz::launch<T>(x, stream);
}
template struct hedgehog_run<bf16>;
template struct hedgehog_run<fp16>;
template struct hedgehog_step_run<bf16>;
template struct hedgehog_step_run<fp16>;
template struct hedgehog_backward_run<bf16>;
template struct hedgehog_backward_run<fp16>;

}  // namespace tk
