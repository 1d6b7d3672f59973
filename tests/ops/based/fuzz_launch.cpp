// SPDX-License-Identifier: MIT
// What stands in for Based's kernels in the fuzzer: one scan.
#include <algorithm>

#include "ops/based/based.h"
#include "ops/based/plan.hpp"
#include "tests/ops/attention/fuzz_launch.hpp"

namespace fuzz {
namespace {

// Small segments and units, so that some sequences are cut, and some heads have several units.
constexpr tk::based_sizes sizes_of_based{16, 1, 1, 32};

seen_tensor const& given(char const* name) { return fuzz::seen(*running.seen, name); }

void check_state(tk::state_tensor const& x, char const* name) {
  auto const& t = given(name);
  require(x.given == t.looked_at, "a state appeared or went");
  if (!x.given) return require(!x.data, "a state without a tensor");
  agree(x, t);
  require(x.b == t.size[0] && x.h == t.size[1] && x.d == t.size[2] && x.dv == t.size[3],
          "a state's sizes changed");
  require(x.b_stride == t.stride[0] && x.h_stride == t.stride[1] && x.d_stride == t.stride[2],
          "a state's strides changed");
}
void check_sums(tk::moment_sums const& x, char const* name) {
  auto const& t = given(name);
  require(x.given == t.looked_at, "sums appeared or went");
  if (!x.given) return require(!x.data, "sums without a tensor");
  at(x.data, t, "sums moved");
  require(x.b_stride == t.stride[0] && x.h_stride == t.stride[1], "strides of sums changed");
}
void check_place(float const* x, wide bytes, char const* what) {
  wide const from = address_of(x) - address_of(running.workspace);
  require(from >= wide(tk::counter_bytes) && from % 16 == 0 && from + bytes <= wide(running.needed),
          what);
}

template <class T> void launch(tk::based_scan_problem const& x, bool normalises, void* stream) {
  begin(TK_OP_BASED, running.workspace, stream);
  bool const packed = given("starts").looked_at;
  agree(x.q, given("q"), packed);
  agree(x.k, given("k"), packed);
  agree(x.v, given("v"), packed);
  agree(x.o, given("o"), packed);
  auto const& p = running.seen->problem<tk_based_problem>();
  require(is_of<T>(x.q) && normalises == (p.normalise != 0), "another instance was chosen");
  require(x.scale == p.scale && !x.normalisers, "a number changed");
  auto const &q = given("q"), &starts = given("starts");
  std::size_t const n = packed ? 0 : 1;
  require(x.rows.is_packed == packed && x.rows.n == q.size[n] && x.rows.h == q.size[n + 1] &&
              x.rows.b == (packed ? starts.size[0] - 1 : q.size[0]),
          "the rows of the scan changed");
  at(x.rows.packed.starts, starts, "starts moved");
  check_state(x.initial, "initial_state");
  check_state(x.final, "final_state");
  check_sums(x.initial_sums, "initial_sums");
  check_sums(x.final_sums, "final_sums");
  wide const units = sizes_of_based.units(x.v.d), h = x.rows.h;
  require(!x.states || !x.copied_sums, "a copy for what is cut");
  require((x.sums != nullptr) == (x.states != nullptr && normalises), "sums without states");
  if (x.states) {
    int const length = sizes_of_based.C * sizes_of_based.segment;
    wide const count = wide(x.rows.blocks(length)) * h * units;
    check_place(x.states, count * sizes_of_based.state_size() * 4, "states do not fit");
    if (normalises) check_place(x.sums, count * 160 * 4, "sums do not fit");
  } else {
    bool const overwritten = given("initial_sums").looked_at && given("final_sums").looked_at;
    require((x.copied_sums != nullptr) == (overwritten && units > 1), "a copy is missing, or none");
    if (x.copied_sums) check_place(x.copied_sums, wide(x.rows.b) * h * 153 * 4, "a copy too large");
    else require(running.needed == 0, "a workspace for nothing");
  }
  touch();
}

}  // namespace
}  // namespace fuzz

namespace tk {

template <class T, bool Normalises> struct based_run {
  static based_sizes sizes() { return fuzz::sizes_of_based; }
  static void launch(based_scan_problem const& x, void* stream) {
    fuzz::launch<T>(x, Normalises, stream);
  }
};
template struct based_run<bf16, false>;
template struct based_run<bf16, true>;
template struct based_run<fp16, false>;
template struct based_run<fp16, true>;

}  // namespace tk
