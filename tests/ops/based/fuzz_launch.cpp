// SPDX-License-Identifier: MIT
// What stands in for Based's kernels in the fuzzer: one scan of the forward; of the backward a
// series of launches, in its order.
#include <algorithm>
#include <string>

#include "ops/based/based.h"
#include "ops/based/based_backward.h"
#include "ops/based/plan.hpp"
#include "tests/ops/attention/fuzz_launch.hpp"
#include "tests/ops/linear_attention/fuzz_scans.hpp"

namespace fuzz {
namespace {

// Small segments and units, so that some sequences are cut, and some heads have several units.
constexpr tk::based_sizes sizes_of_based{16, 1, 1, 32, 7};

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
  if (bytes == 0) return;  // nothing is there
  wide const from = address_of(x) - address_of(running.workspace);
  require(from >= wide(tk::counter_bytes) && from % 16 == 0 && from + bytes <= wide(running.needed),
          what);
}

void check_rows(tk::scan_rows const& x) {
  bool const packed = given("starts").looked_at;
  auto const &q = given("q"), &starts = given("starts");
  std::size_t const n = packed ? 0 : 1;
  require(x.is_packed == packed && x.n == q.size[n] && x.h == q.size[n + 1] &&
              x.b == (packed ? starts.size[0] - 1 : q.size[0]),
          "the rows of a scan changed");
  at(x.packed.starts, starts, "starts moved");
}
// What every scan of Based has: `places` of the workspace, or none where it needs none.
void check_scan(tk::based_scan_problem const& x, bool normalises, bool overwritten) {
  bool const packed = given("starts").looked_at;
  agree(x.q, given("q"), packed);
  agree(x.k, given("k"), packed);
  agree(x.v, given("v"), packed);
  check_rows(x.rows);
  check_state(x.initial, "initial_state");
  check_sums(x.initial_sums, "initial_sums");
  wide const units = sizes_of_based.units(x.v.d), h = x.rows.h;
  require(!x.states || !x.copied_sums, "a copy for what is cut");
  require((x.sums != nullptr) == (x.states != nullptr && normalises), "sums without states");
  if (x.states) {
    int const length = sizes_of_based.C * sizes_of_based.segment;
    wide const count = wide(x.rows.blocks(length)) * h * units;
    check_place(x.states, count * sizes_of_based.state_size() * 4, "states do not fit");
    if (normalises) check_place(x.sums, count * 160 * 4, "sums do not fit");
  } else {
    require((x.copied_sums != nullptr) == (overwritten && units > 1), "a copy is missing, or none");
    if (x.copied_sums) check_place(x.copied_sums, wide(x.rows.b) * h * 153 * 4, "a copy too large");
  }
}

// ---- the backward: what is launched, a letter each
//   f forward, d its outputs divided, p a state placed, e moments expanded, s a scan, c contracted
std::string due;
std::size_t done = 0;
tk_based_backward_problem problem() { return running.seen->problem<tk_based_backward_problem>(); }
bool is_given(char const* state, char const* sums) {
  return given(state).looked_at || given(sums).looked_at;
}
wide columns_of_g() {
  return given("v").size[given("starts").looked_at ? 2 : 3] + (problem().normalise ? 16 : 0);
}
int parts_of_g() { return columns_of_g() > 256 ? 2 : 1; }
bool has_tokens() { return given("q").size[given("starts").looked_at ? 0 : 1] > 0; }
void begin_launch(char kind, void* stream) {
  if (running.launches == 0) {
    begin(TK_OP_BASED_BACKWARD, running.workspace, stream);
    done = 0;
    due = problem().normalise && has_tokens() ? "fd" : "";
    if (is_given("initial_state", "initial_sums")) due += 'p';
    if (is_given("dfinal_state", "dfinal_sums")) due += 'p';
    if (has_tokens()) due += parts_of_g() == 1 ? "eescsc" : "eesscssc";
    due += 's';
    if (is_given("dinitial_state", "dinitial_sums")) due += 'p';
  }
  require(stream == running.stream, "a launch on another stream");
  require(done < due.size() && due[done] == kind, "launches in another order");
}
void end_launch() {
  if (++done == due.size()) touch();
}
// The n-th launch of its kind.
std::size_t nth() {
  return static_cast<std::size_t>(
      std::count(due.begin(), due.begin() + std::ptrdiff_t(done), due[done]));
}
// Some columns of a tensor of all tokens and heads in the workspace, which has `all`.
void check_columns(tk::heads const& x, wide columns, wide all) {
  auto const& q = given("q");
  bool const packed = given("starts").looked_at;
  std::size_t const n = packed ? 0 : 1;
  require(x.b == (packed ? 1 : q.size[0]) && x.n == q.size[n] && x.h == q.size[n + 1] &&
              x.d == columns && x.h_stride == all && x.n_stride == x.h * all &&
              x.b_stride == x.n * x.n_stride,
          "a tensor of the workspace has another shape");
  wide const rows = wide(x.b) * x.n * x.h;
  check_place(static_cast<float const*>(x.data), rows > 0 ? ((rows - 1) * all + columns) * 2 : 0,
              "a tensor of the workspace does not fit");
}
void check_tokens(tk::heads const& x, wide columns) { check_columns(x, columns, columns); }
// Of g, or of a part of it: the last has 16.
wide columns_of_part(std::size_t part) {
  if (parts_of_g() == 1) return columns_of_g();
  return part == 0 ? columns_of_g() - 16 : 16;
}
void check_placed(tk::state_tensor const& x, bool is_there, wide columns) {
  require(x.given == is_there, "a placed state appeared or went");
  if (!is_there) return;
  wide const all = columns_of_g(), rows = wide(x.b) * x.h * 160;
  require(x.d == 160 && x.dv == columns && x.d_stride == all && x.h_stride == 160 * all &&
              x.b_stride == x.h * x.h_stride,
          "a placed state has another shape");
  check_place(static_cast<float const*>(x.data), rows > 0 ? ((rows - 1) * all + columns) * 4 : 0,
              "a placed state does not fit");
}

bool steps(tk::based_scan_problem const& x) { return x.rows.n == 1 && !x.rows.is_packed; }

template <class T>
void launch(tk::based_scan_problem const& x, bool normalises, bool as_step, void* stream) {
  if (running.seen->spec->op->number == TK_OP_BASED_BACKWARD) {
    begin_launch('f', stream);
    require(is_of<T>(x.q) && normalises && x.scale == problem().scale, "another forward");
    require(!x.final.given && !x.final_sums.given && !as_step, "a forward with final states");
    check_scan(x, true, false);
    check_tokens(x.o, x.v.d);
    check_place(x.normalisers, wide(x.q.b) * x.q.n * x.q.h * 4, "normalisers do not fit");
    return end_launch();
  }
  begin(TK_OP_BASED, running.workspace, stream);
  auto const& p = running.seen->problem<tk_based_problem>();
  require(as_step == (steps(x) && p.repeat == TK_REPEAT_RUN), "a step as a chunk, or none as one");
  require(is_of<T>(x.q) && normalises == (p.normalise != 0), "another instance was chosen");
  require(x.scale == p.scale && !x.normalisers, "a number changed");
  agree(x.o, given("o"), given("starts").looked_at);
  check_state(x.final, "final_state");
  check_sums(x.final_sums, "final_sums");
  check_scan(x, normalises,
             !as_step && given("initial_sums").looked_at && given("final_sums").looked_at);
  if (as_step) require(!x.states, "a step in segments");
  if (!x.states && !x.copied_sums) require(running.needed == 0, "a workspace for nothing");
  touch();
}
template <class T> void launch(tk::moments_to_expand const& x, void* stream) {
  begin_launch('e', stream);
  bool const of_q = nth() == 1;
  require(is_of<T>(x.x) && x.weighted == of_q && x.scale == problem().scale, "other moments");
  agree(x.x, given(of_q ? "q" : "k"), given("starts").looked_at);
  check_tokens(x.to, 160);
  check_rows(x.rows);
  end_launch();
}
template <class T> void launch(tk::moments_to_contract const& x, void* stream) {
  begin_launch('c', stream);
  bool const of_q = nth() == 0;
  require(is_of<T>(x.x) && x.weighted == of_q && x.scale == problem().scale, "other gradients");
  bool const packed = given("starts").looked_at;
  agree(x.x, given(of_q ? "q" : "k"), packed);
  agree(x.to, given(of_q ? "dq" : "dk"), packed);
  require(x.parts == parts_of_g(), "other parts");
  for (auto const& grad : x.grads) check_tokens(grad, 160);
  require((x.grads[0].data != x.grads[1].data) == (x.parts == 2), "parts in one place");
  check_rows(x.rows);
  end_launch();
}
template <class T> void launch(tk::outputs_to_divide const& x, void* stream) {
  begin_launch('d', stream);
  bool const packed = given("starts").looked_at;
  require(is_of<T>(x.v), "another instance was chosen");
  agree(x.dout, given("dout"), packed);
  agree(x.v, given("v"), packed);
  check_tokens(x.o, x.v.d);
  check_tokens(x.divided, columns_of_g());
  check_tokens(x.wide_v, columns_of_g());
  check_place(x.normalisers, wide(x.v.b) * x.v.n * x.v.h * 4, "normalisers do not fit");
  check_rows(x.rows);
  end_launch();
}
template <class T> void launch(tk::states_to_place const& x, void* stream) {
  begin_launch('p', stream);
  bool const first = nth() == 0 && is_given("initial_state", "initial_sums");
  auto const name = [&](char const* of) {
    return std::string(x.back ? "dinitial_" : first ? "initial_" : "dfinal_") + of;
  };
  require(x.back == (done + 1 == due.size()), "a state is placed the other way");
  check_state(x.state, name("state").c_str());
  check_sums(x.sums, name("sums").c_str());
  auto const& q = given("q");
  std::size_t const n = given("starts").looked_at ? 0 : 1;
  wide const b = n ? q.size[0] : given("starts").size[0] - 1;
  require(x.b == b && x.h == q.size[n + 1] && x.columns == columns_of_g() &&
              x.dv == x.columns - (problem().normalise ? 16 : 0),
          "the shape of a state changed");
  check_place(x.placed, wide(x.b) * x.h * 160 * x.columns * 4, "a placed state does not fit");
  end_launch();
}
// A scan of linear attention.
void launch_scan(tk::scan_problem const& x, void* stream) {
  begin_launch('s', stream);
  bool const packed = given("starts").looked_at, dv_alone = !has_tokens();
  // Of g and v, of these exchanged, each in parts; then for dv.
  auto const parts = static_cast<std::size_t>(parts_of_g());
  std::size_t const i = dv_alone ? 2 : nth() / parts, part = i < 2 ? nth() % parts : 0;
  wide const columns = i < 2 ? columns_of_part(part) : columns_of_g();
  require(x.scale == 1 && x.initial_scale == 1 && x.final_scale == 1 && !x.decays.data && !x.kept,
          "another scan");
  require(x.transposed == (i < 2) && x.reversed == (i > 0), "another direction");
  bool const of_dfinal = is_given("dfinal_state", "dfinal_sums");
  check_placed(x.initial, i == 0 ? is_given("initial_state", "initial_sums") : of_dfinal, columns);
  check_placed(x.final, i == 2 && is_given("dinitial_state", "dinitial_sums"), columns);
  check_rows(x.rows);
  if (i < 2) check_tokens(x.v, 160), check_tokens(x.o, 160);
  else agree(x.o, given("dv"), packed), check_tokens(x.q, 160), check_tokens(x.k, 160);
  if (has_tokens()) {
    auto const check = [&](tk::heads const& y, char const* name) {
      if (problem().normalise) check_columns(y, columns, columns_of_g());
      else agree(y, given(name), packed);
    };
    if (i == 0) check(x.q, "dout"), check(x.k, "v");
    else if (i == 1) check(x.q, "v"), check(x.k, "dout");
    else check(x.v, "dout");
  }
  end_launch();
}
[[maybe_unused]] bool const scans_are_known = [] {
  scan_of_others[TK_OP_BASED_BACKWARD] = launch_scan;
  return true;
}();

}  // namespace
}  // namespace fuzz

namespace tk {

template <class T, bool Normalises> struct based_run {
  static based_sizes sizes() { return fuzz::sizes_of_based; }
  static void launch(based_scan_problem const& x, void* stream) {
    fuzz::launch<T>(x, Normalises, false, stream);
  }
};
template <class T> struct based_step_run {
  static void launch(based_scan_problem const& x, bool normalises, void* stream) {
    fuzz::launch<T>(x, normalises, true, stream);
  }
};
template <class T> struct based_backward_run {
  static void launch(moments_to_expand const& x, void* stream) { fuzz::launch<T>(x, stream); }
  static void launch(moments_to_contract const& x, void* stream) { fuzz::launch<T>(x, stream); }
  static void launch(outputs_to_divide const& x, void* stream) { fuzz::launch<T>(x, stream); }
  static void launch(states_to_place const& x, void* stream) { fuzz::launch<T>(x, stream); }
};
template struct based_backward_run<bf16>;
template struct based_backward_run<fp16>;
template struct based_step_run<bf16>;
template struct based_step_run<fp16>;
template struct based_run<bf16, false>;
template struct based_run<bf16, true>;
template struct based_run<fp16, false>;
template struct based_run<fp16, true>;

}  // namespace tk
