// SPDX-License-Identifier: MIT
// What stands in for mamba2's kernels in the fuzzer: steps, one scan of the forward, two or three
// of the backward, and what follows them.
#include <algorithm>

#include "ops/mamba2/mamba2.h"
#include "ops/mamba2/mamba2_backward.h"
#include "ops/mamba2/plan.hpp"
#include "tests/ops/attention/fuzz_launch.hpp"
#include "tests/ops/linear_attention/fuzz_scans.hpp"

namespace fuzz {
namespace {

// Small segments and parts, so that some sequences are cut.
constexpr int C = 16, segment = 1, width = 64;

// Of the call that runs.
int scans = 0;
bool stepped = false, gated = false;
bool by_factors = false;  // which the steps left

seen_tensor const& seen(char const* name) { return fuzz::seen(*running.seen, name); }
bool is_packed() { return seen("starts").looked_at; }
bool is_forward() { return running.seen->spec->op->number == TK_OP_MAMBA2; }
bool has(char const* name) { return seen(name).looked_at; }

// Inside of the workspace, of so many bytes; null only where there is nothing.
void check_place(void const* data, wide bytes, char const* what) {
  if (bytes == 0) return;
  require(data != nullptr, what);
  wide const from = address_of(data) - address_of(running.workspace);
  require(from >= wide(tk::counter_bytes) && from % 16 == 0 && from + bytes <= wide(running.needed),
          what);
}
std::int64_t heads_of_x() { return seen("x").size[is_packed() ? 1 : 2]; }
wide blocks() {
  auto const& x = seen("x");
  wide const sequences = seen("starts").size[0] - 1;
  if (is_packed()) return sequences > 0 ? x.size[0] / C + sequences : 0;
  return x.size[0] * std::max(wide(1), tiles(x.size[1], C));
}

void check_rows(tk::scan_rows const& rows) {
  auto const &x = seen("x"), &starts = seen("starts");
  std::size_t const n = is_packed() ? 0 : 1;
  require(rows.is_packed == is_packed() && rows.n == x.size[n] && rows.h == x.size[n + 1] &&
              rows.b == (is_packed() ? starts.size[0] - 1 : x.size[0]),
          "the rows of a scan changed");
  at(rows.packed.starts, starts, "starts moved");
}
void check_tables(tk::step_tables const& x) {
  wide const size = blocks() * heads_of_x() * C * 4;
  by_factors = x.factors != nullptr;
  if (by_factors) {
    require(is_forward() && !is_packed() && seen("x").size[1] > 1, "factors of another scan");
    check_place(x.factors, size * tk::side_factors::count, "factors do not fit");
  } else {
    check_place(x.decays.data, size, "decays do not fit");
    check_place(x.weights, size, "steps do not fit");
  }
  check_place(x.slopes, is_forward() ? 0 : size, "slopes do not fit");
  auto const p = seen("x").size[is_packed() ? 2 : 3];
  check_place(x.skip, has("D") ? heads_of_x() * p * 4 : 0, "the skip does not fit");
}
void check_head_vector(tk::head_vector const& x, char const* name) {
  auto const& t = seen(name);
  require(x.given == t.looked_at, "a vector appeared or went");
  at(x.data, t, "a vector moved");
  if (!x.given) return;
  require(x.of_columns == (t.rank == 2) && x.h_stride == t.stride[0] &&
              x.p_stride == (t.rank == 2 ? t.stride[1] : 0),
          "strides of a vector changed");
}
void check_steps(tk::step_tensor const& x, char const* name) {
  auto const& t = seen(name);
  agree(x, t);
  std::size_t const n = is_packed() ? 0 : 1;
  require(x.b_stride == (is_packed() ? 0 : t.stride[0]) && x.n_stride == t.stride[n] &&
              x.h_stride == t.stride[n + 1],
          "strides of steps changed");
}
void check_state(tk::state_tensor const& x, char const* name) {
  bool const given = name && has(name);
  require(x.given == given, "a state appeared or went");
  if (!given) return;
  auto const& t = seen(name);
  agree(x, t);
  require(x.b == t.size[0] && x.h == t.size[1] && x.d == t.size[2] && x.dv == t.size[3] &&
              x.b_stride == t.stride[0] && x.h_stride == t.stride[1] && x.d_stride == t.stride[2],
          "a state changed");
}
// The tensor of that name, or one of each head in the workspace where it is null.
void check_operand(tk::heads const& x, char const* name, char const* columns_of) {
  if (name) return agree(x, seen(name), is_packed());
  auto const columns = seen(columns_of).size[is_packed() ? 2 : 3];
  require(x.h == heads_of_x() && x.d == columns && x.h_stride == columns &&
              x.n_stride == x.h * columns && x.b_stride == x.n * x.n_stride,
          "a tensor of heads changed");
  check_place(x.data, wide(x.b) * x.n * x.n_stride * 2, "a tensor of heads does not fit");
}

template <class T> void take_steps(tk::steps_to_take const& x, void* stream) {
  begin(running.seen->spec->op->number, running.workspace, stream);
  scans = 0, gated = false, stepped = true;
  check_steps(x.dt, "dt");
  require(is_of<T>(x.dt), "another instance was chosen");
  check_head_vector(x.A, "A");
  check_head_vector(x.D, "D");
  check_head_vector(x.dt_bias, "dt_bias");
  check_tables(x.to);
  check_rows(x.rows);
  auto const& call = *running.seen;
  auto const same = [&](auto const& given) {
    require(x.dt_min == given.dt_min && x.dt_max == given.dt_max &&
                x.softplus == (given.dt_softplus != 0),
            "options of steps changed");
  };
  if (is_forward()) same(call.problem<tk_mamba2_problem>());
  else same(call.problem<tk_mamba2_backward_problem>());
  require(x.C == C && x.p == seen("x").size[is_packed() ? 2 : 3], "sizes of steps changed");
}

// What the scans are, in order: of the backward, one before the gate, and those that leave states.
struct scan {
  char const *k, *v, *o, *initial, *final;
  bool reversed, keeps;
};
constexpr scan forward{"B", "x", "y", "initial_state", "final_state", false, false};
constexpr scan before_gate{"B", "x", nullptr, "initial_state", nullptr, false, false};
constexpr scan of_states{"B", "x", nullptr, "initial_state", nullptr, false, true};
constexpr scan of_gradients{"C", "dy", nullptr, "dfinal_state", "dinitial_state", true, true};

// [chunks, D, h, p].
void check_chunk_states(tk::heads const& x, int D) {
  auto const p = seen("x").size[is_packed() ? 2 : 3];
  require(x.b == blocks() && x.n == D && x.h == heads_of_x() && x.d == p && x.n_stride == p &&
              x.h_stride == D * p && x.b_stride == x.h * x.h_stride,
          "states of chunks changed");
  check_place(x.data, blocks() * heads_of_x() * D * p * 2, "states of chunks do not fit");
}

void check_scan(tk::scan_problem const& x, scan const& is, int D) {
  // With a gate, dy has gone through it.
  bool const passed = std::string_view(is.v) == "dy" && has("z");
  check_operand(x.q, "C", "B");
  check_operand(x.k, is.k, "B");
  check_operand(x.v, passed ? nullptr : is.v, "x");
  if (is.keeps) check_chunk_states(x.chunk_states, D);
  else check_operand(x.o, is.o, "x");
  require(is.keeps || !x.chunk_states.data, "states of chunks were left");
  check_rows(x.rows);
  check_state(x.initial, is.initial);
  check_state(x.final, is.final);
  auto const groups = seen("B").size[is_packed() ? 1 : 2];
  auto const sharing = groups > 0 ? heads_of_x() / groups : 1;
  require(x.shares.q == sharing && x.shares.k == sharing && x.shares.v == 1,
          "heads share otherwise");
  require(x.transposed && x.reversed == is.reversed && x.scale == 1 && x.initial_scale == 1 &&
              x.final_scale == 1,
          "another scan");
  wide const size = blocks() * heads_of_x() * C * 4;
  require((x.side.factors != nullptr) == by_factors, "factors appeared or went");
  if (by_factors) {
    check_place(x.side.factors, size * tk::side_factors::count, "factors moved");
    return;
  }
  require((x.weights != nullptr) == (!is.reversed && size > 0), "weights appeared or went");
  if (x.weights) check_place(x.weights, size, "steps moved");
  check_place(x.decays.data, size, "decays moved");
}
// Walks of whole sums, of which each has its place.
void check_sums(tk::scan_problem const& x, int D) {
  wide const n = seen("x").size[1], chunks = tiles(n, C);
  require(x.each > 0, "walks of nothing");
  if (!x.states) {
    require(x.each >= chunks && x.side.each == 0, "a sum without its place");
    return;
  }
  require(x.side.each > 0 && x.each % x.side.each == 0 && x.each < chunks, "walks are no sums");
  wide const sums = seen("x").size[0] * tiles(chunks, x.side.each) * heads_of_x();
  check_place(x.side.kept, sums * 4, "what is kept does not fit");
  check_place(x.states, sums * tiles(x.v.d, width) * D * width * 4, "sums do not fit");
}

template <class T, int D> void launch(tk::scan_problem const& x, void* stream) {
  require(stepped && stream == running.stream, "a scan before the steps, or on another stream");
  require(x.q.d <= D && (D == 64 || x.q.d > D / 2) && is_of<T>(x.q), "another instance was chosen");
  bool const gate = has("z");
  scan const* const is = is_forward()         ? &forward
                         : gate && scans == 0 ? &before_gate
                         : scans == gate      ? &of_states
                                              : &of_gradients;
  ++scans;
  check_scan(x, *is, D);
  bool const skips = is == &forward || is == &before_gate;
  require((x.skip != nullptr) == (skips && has("D")), "the skip appeared or went");
  require((x.gate.d > 0) == (is == &forward && gate), "the gate appeared or went");
  if (is == &forward && gate) agree(x.gate, seen("z"), is_packed());
  require(!x.kept && !x.meetings && !x.met_states, "meetings were left");
  wide const units = blocks() * heads_of_x() * tiles(x.v.d, width);
  if (by_factors) check_sums(x, D);
  else if (x.states) check_place(x.states, units * D * width * 4, "states do not fit");
  require(scans <= (is_forward() ? 1 : 2 + gate), "a scan too many");
  if (is_forward()) stepped = false, touch();
}

template <class T> void pass_gate(tk::gate_backward_problem const& x, void* stream) {
  require(stream == running.stream && has("z") && scans == 1 && !gated, "a gate out of turn");
  gated = true;
  agree(x.dy, seen("dy"), is_packed());
  agree(x.z, seen("z"), is_packed());
  check_operand(x.y, nullptr, "x");
  check_operand(x.dout, nullptr, "x");
  require((x.dz.d > 0) == has("dz"), "dz appeared or went");
  if (has("dz")) agree(x.dz, seen("dz"), is_packed());
  check_rows(x.rows);
  require(x.C == C && is_of<T>(x.dy), "another instance was chosen");
}

// What the gradients of chunks leave for those of steps.
void check_left(tk::left_of_chunks const& x) {
  wide const of_heads = blocks() * heads_of_x();
  for (auto const* of : {x.before, x.sees, x.seen, x.after, x.direct})
    check_place(of, of_heads * C * 4, "sums of tokens do not fit");
  check_place(x.states, of_heads * tk::rows_of_met_states * 4, "sums of states do not fit");
  bool const by_columns = has("dD") && seen("dD").rank == 2;
  check_place(x.skipped, has("dD") && !by_columns ? of_heads * C * 4 : 0, "sums do not fit");
  check_place(x.skipped_columns,
              by_columns ? of_heads * seen("x").size[is_packed() ? 2 : 3] * 4 : 0,
              "sums do not fit");
}
template <class T, int D> void leave_gradients(tk::chunk_gradients_problem const& x, void* stream) {
  require(stream == running.stream && scans == 2 + has("z"), "gradients of chunks out of turn");
  require(x.B.d <= D && (D == 64 || x.B.d > D / 2) && is_of<T>(x.B), "another instance was chosen");
  scans = -1;
  for (auto const& [given, name] : {std::pair{&x.B, "B"},
                                    {&x.C, "C"},
                                    {&x.x, "x"},
                                    {&x.dB, "dB"},
                                    {&x.dC, "dC"},
                                    {&x.dx, "dx"}})
    agree(*given, seen(name), is_packed());
  check_operand(x.dout, has("z") ? nullptr : "dy", "x");
  check_chunk_states(x.states, D);
  check_chunk_states(x.gradients, D);
  require(blocks() == 0 || x.states.data != x.gradients.data, "one place for two kinds of states");
  check_tables(x.tables);
  check_left(x.left);
  auto const groups = x.B.h;
  int const slices = tk::slices_of_group(groups > 0 ? int(x.rows.h / groups) : 1);
  check_place(x.slices, slices > 1 ? blocks() * groups * slices * 2 * C * D * 4 : 0,
              "sums of groups do not fit");
  check_rows(x.rows);
}
void leave_steps(tk::step_gradients_problem const& x, void* stream) {
  require(stream == running.stream && scans == -1, "gradients of steps out of turn");
  scans = 0, stepped = false;
  check_left(x.left);
  check_rows(x.rows);
  check_tables(x.tables);
  check_head_vector(x.A, "A");
  check_head_vector(x.dA, "dA");
  check_head_vector(x.dD, "dD");
  check_head_vector(x.ddt_bias, "ddt_bias");
  check_steps(x.ddt, "ddt");
  wide const of_heads = blocks() * x.stride * 4;
  require(x.stride >= x.rows.h && x.stride % 4 == 0, "sums overlap");
  check_place(x.of_A, of_heads, "sums do not fit");
  check_place(x.of_bias, has("ddt_bias") ? of_heads : 0, "sums do not fit");
  check_place(x.of_D, has("dD") && !x.dD.of_columns ? of_heads : 0, "sums do not fit");
  require(x.C == C && x.p == seen("x").size[is_packed() ? 2 : 3], "sizes changed");
  touch();
}

}  // namespace
}  // namespace fuzz

namespace tk {

template <class T, int D, class Family> struct chunk_scan_run {
  static scan_sizes sizes() { return {fuzz::C, fuzz::segment, 1, 1, fuzz::width, D, false, 2, 4}; }
  static void launch(scan_problem const& x, void* stream) {
    fuzz::require(!x.may_step || x.rows.n != 1 || x.rows.is_packed, "a step as a chunk");
    fuzz::launch<T, D>(x, stream);
  }
};
template <class T, class Family> struct token_step_run {
  static void launch(scan_problem const& x, int C, void* stream) {
    fuzz::check_step<tk_mamba2_problem>(x, C == fuzz::C,
                                        [&](auto d) { fuzz::launch<T, d>(x, stream); });
  }
};
template <class T> struct mamba2_steps_run {
  static void launch(steps_to_take const& x, void* stream) { fuzz::take_steps<T>(x, stream); }
};
template <class T> struct mamba2_gate_run {
  static void launch(gate_backward_problem const& x, void* s) { fuzz::pass_gate<T>(x, s); }
};
template <class T, int D> struct mamba2_gradients_run {
  static void launch(chunk_gradients_problem const& x, void* s) {
    fuzz::leave_gradients<T, D>(x, s);
  }
};
template <class T> struct mamba2_step_gradients_run {
  static void launch(step_gradients_problem const& x, void* s) { fuzz::leave_steps(x, s); }
};
template struct token_step_run<bf16, ssm_scans>;
template struct token_step_run<fp16, ssm_scans>;
template struct mamba2_steps_run<float>;
template struct mamba2_steps_run<bf16>;
template struct mamba2_steps_run<fp16>;
template struct mamba2_gate_run<bf16>;
template struct mamba2_gate_run<fp16>;
template struct mamba2_gradients_run<bf16, 64>;
template struct mamba2_gradients_run<bf16, 128>;
template struct mamba2_gradients_run<bf16, 256>;
template struct mamba2_gradients_run<fp16, 64>;
template struct mamba2_gradients_run<fp16, 128>;
template struct mamba2_gradients_run<fp16, 256>;
template struct mamba2_step_gradients_run<float>;
template struct chunk_scan_run<bf16, 64, ssm_scans>;
template struct chunk_scan_run<bf16, 128, ssm_scans>;
template struct chunk_scan_run<bf16, 256, ssm_scans>;
template struct chunk_scan_run<fp16, 64, ssm_scans>;
template struct chunk_scan_run<fp16, 128, ssm_scans>;
template struct chunk_scan_run<fp16, 256, ssm_scans>;

}  // namespace tk
