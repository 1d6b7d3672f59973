// SPDX-License-Identifier: MIT
// What stands in for linear attention's kernels in the fuzzer: one scan of the forward, and three
// of the backward, after the sums of decays where there are any, and before what decays get.
#include <algorithm>

#include "ops/linear_attention/linear_attention.h"
#include "ops/linear_attention/linear_attention_backward.h"
#include "ops/linear_attention/plan.hpp"
#include "tests/ops/attention/fuzz_launch.hpp"
#include "tests/ops/linear_attention/fuzz_scans.hpp"

namespace fuzz {
namespace {

// Small segments and parts, so that some sequences are cut.
constexpr int C = 16, segment = 1, width = 64;

// Of the call that runs.
bool summed = false;
int scans = 0;

seen_tensor const& seen(char const* name) { return fuzz::seen(*running.seen, name); }
bool is_packed() { return seen("starts").looked_at; }

wide blocks(int height) {
  auto const& q = seen("q");
  wide const sequences = seen("starts").size[0] - 1;
  if (is_packed()) return sequences > 0 ? q.size[0] / height + sequences : 0;
  return q.size[0] * std::max(wide(1), tiles(q.size[1], height));
}
wide end_of_table() {
  bool const by_head = seen("decay").looked_at;
  if (!by_head && !seen("log_decay").looked_at) return tk::counter_bytes;
  auto const h = seen("q").size[is_packed() ? 1 : 2];
  return tk::counter_bytes + (by_head ? 1 : blocks(C)) * h * C * 4;
}

void check_rows(tk::scan_rows const& x) {
  auto const &q = seen("q"), &starts = seen("starts");
  std::size_t const n = is_packed() ? 0 : 1;
  require(x.is_packed == is_packed() && x.n == q.size[n] && x.h == q.size[n + 1] &&
              x.b == (is_packed() ? starts.size[0] - 1 : q.size[0]),
          "the rows of a scan changed");
  at(x.packed.starts, starts, "starts moved");
  if (is_packed())
    require(x.packed.sequences == x.b && x.packed.total == x.n && x.packed.most == x.n,
            "packed sequences changed");
}

void check_table(tk::decay_table const& x) {
  bool const by_head = seen("decay").looked_at;
  require(x.constant == by_head &&
              address_of(x.data) == address_of(running.workspace) + wide(tk::counter_bytes),
          "the table of decays moved");
}

void check_sums(tk::decays_to_sum<float> const& x, void* stream) {
  bool const by_head = seen("decay").looked_at;
  auto const& from = seen(by_head ? "decay" : "log_decay");
  require(from.looked_at && running.launches == 0 && stream == running.stream,
          "sums without decays, or late");
  summed = true;
  at(x.from, from, "decays moved");
  std::size_t const n = is_packed() ? 0 : 1;
  auto const stride = [&](std::size_t axis) { return by_head ? 0 : from.stride[axis]; };
  require(x.b_stride == (is_packed() ? 0 : stride(0)) && x.n_stride == stride(n) &&
              x.h_stride == (by_head ? from.stride[0] : stride(n + 1)) && x.C == C,
          "strides of decays changed");
  check_table(x.to);
  check_rows(x.rows);
}

// `name` is NULL where the scan has no such state.
void check_state(tk::state_tensor const& x, char const* name) {
  bool const given = name && seen(name).looked_at;
  require(x.given == given, "a state appeared or went");
  if (!given) return require(!x.data, "a state without a tensor");
  auto const& t = seen(name);
  agree(x, t);
  require(x.b == t.size[0] && x.h == t.size[1] && x.d == t.size[2] && x.dv == t.size[3],
          "a state's sizes changed");
  require(x.b_stride == t.stride[0] && x.h_stride == t.stride[1] && x.d_stride == t.stride[2],
          "a state's strides changed");
}

// What the scans are, in order.
struct scan {
  char const *q, *k, *v, *o, *initial, *final;
  bool transposed, reversed;
};
constexpr scan forward[] = {{"q", "k", "v", "o", "initial_state", "final_state", false, false}};
constexpr scan backward[] = {
    {"dout", "v", "k", "dq", "initial_state", nullptr, true, false},
    {"v", "dout", "q", "dk", "dfinal_state", nullptr, true, true},
    {"k", "q", "dout", "dv", "dfinal_state", "dinitial_state", false, true}};

bool wants_decay_gradient() {
  if (running.seen->spec->op->number == TK_OP_LINEAR_ATTENTION) return false;
  return seen("dlog_decay").looked_at || seen("ddecay").looked_at;
}

// What scans of parts of D rows leave for gradients of decays.
wide met_units() {
  auto const& q = seen("q");
  int const h = is_packed() ? 1 : 2;
  return blocks(C) * q.size[h] * tiles(q.size[h + 1], width);
}
void check_met(void const* data, wide bytes) {
  if (bytes == 0) return;
  require(data != nullptr, "meetings were not left");
  wide const from = address_of(data) - address_of(running.workspace);
  require(from >= end_of_table() && from % 16 == 0 && from + bytes <= wide(running.needed),
          "meetings do not fit");
}

void check_workspace(tk::scan_problem const& x, wide floats) {
  bool const decays = seen("log_decay").looked_at || seen("decay").looked_at;
  require((x.decays.data != nullptr) == decays, "decays appeared or went");
  require(summed == (decays && x.rows.n > 0), "decays without their sums");
  if (decays) check_table(x.decays);
  wide const end = decays ? end_of_table() : wide(0);
  if (!x.states)
    return require(running.needed == std::size_t(end) || wants_decay_gradient(),
                   "a workspace without states");
  wide const from = address_of(x.states) - address_of(running.workspace);
  wide const bytes = blocks(C * segment) * x.rows.h * tiles(x.v.d, width) * floats * 4;
  require(from >= std::max(end, wide(tk::counter_bytes)) && from % 16 == 0 &&
              from + bytes <= wide(running.needed),
          "states do not fit");
}

template <class Given, int D> void check_scan(tk::scan_problem const& x, scan const& is) {
  bool const packed = is_packed();
  agree(x.q, seen(is.q), packed);
  agree(x.k, seen(is.k), packed);
  agree(x.v, seen(is.v), packed);
  agree(x.o, seen(is.o), packed);
  require(x.shares.q == 1 && x.shares.k == 1 && x.shares.v == 1 && !x.weights && !x.skip &&
              !x.gate.data,
          "heads are shared, or weighed");
  check_rows(x.rows);
  check_state(x.initial, is.initial);
  check_state(x.final, is.final);
  require(x.transposed == is.transposed && x.reversed == is.reversed, "another scan");
  float const scale = running.seen->problem<Given>().scale;
  require(x.scale == scale && x.initial_scale == (is.reversed ? 1 / scale : 1) &&
              (!is.final || x.final_scale == (is.reversed ? scale : 1)),
          "a scale changed");
  if (scans == 2 || !wants_decay_gradient())
    return require(!x.meetings && !x.kept && !x.met_states, "meetings were left");
  agree(x.met, seen(is.reversed ? "k" : "q"), packed);
  check_met(x.meetings, met_units() * C * 4);
  check_met(x.met_states, met_units() * D * 4);
  check_met(x.kept, met_units() * D * width * 2);
}

template <class T, int D> void launch(tk::scan_problem const& x, void* stream) {
  if (running.launches == 0) {
    begin(running.seen->spec->op->number, running.workspace, stream);
    scans = 0;
  }
  require(stream == running.stream, "a scan on another stream");
  bool const is_forward = running.seen->spec->op->number == TK_OP_LINEAR_ATTENTION;
  require(x.q.d <= D && (D == 64 || x.q.d > D / 2) && is_of<T>(x.q), "another instance was chosen");
  check_workspace(x, D * width);
  int const last = is_forward ? 0 : 2;
  require(scans <= last, "a scan too many");
  if (is_forward) check_scan<tk_linear_attention_problem, D>(x, forward[scans]);
  else check_scan<tk_linear_attention_backward_problem, D>(x, backward[scans]);
  if (scans++ < last) return;
  summed = false;
  if (!wants_decay_gradient()) touch();
}

void leave_decays(tk::decay_gradient_problem const& x, void* stream) {
  require(wants_decay_gradient() && scans == 3, "gradients of decays before those of tokens");
  scans = 0;
  require(stream == running.stream, "another stream");
  check_rows(x.rows);
  auto const d = seen("v").size[is_packed() ? 2 : 3];
  int const D = d <= 64 ? 64 : d <= 128 ? 128 : 256;
  for (auto const* of : x.met.of) check_met(of, met_units() * C * 4);
  check_met(x.met.states, met_units() * D * 4);
  check_table(x.met.decays);
  auto const columns = seen("q").size[is_packed() ? 2 : 3];
  require(x.met.C == C && x.met.D == D && x.met.units == tiles(columns, width) &&
              x.scale == running.seen->problem<tk_linear_attention_backward_problem>().scale,
          "the scale, or chunks, changed");
  bool const by_head = seen("ddecay").looked_at;
  auto const& to = seen(by_head ? "ddecay" : "dlog_decay");
  require(x.to.given && x.to.of_heads == by_head, "another decay");
  at(x.to.data, to, "the gradient moved");
  std::size_t const n = is_packed() ? 0 : 1;
  auto const stride = [&](std::size_t axis) { return by_head ? 0 : to.stride[axis]; };
  require(x.to.b_stride == (is_packed() ? 0 : stride(0)) && x.to.n_stride == stride(n) &&
              x.to.h_stride == (by_head ? to.stride[0] : stride(n + 1)),
          "strides of the gradient changed");
  bool const sums = by_head && blocks(C) > 0;
  require((x.totals != nullptr) == sums, "totals appeared or went");
  if (sums) {
    wide const from = address_of(x.totals) - address_of(running.workspace);
    require(x.stride >= x.rows.h && x.stride % 4 == 0 && from % 16 == 0 && from >= end_of_table() &&
                from + blocks(C) * x.stride * 4 <= wide(running.needed),
            "totals do not fit");
  }
  touch();
}

}  // namespace
}  // namespace fuzz

namespace tk {

template <class T, int D, class Family> struct chunk_scan_run {
  static scan_sizes sizes() { return {fuzz::C, fuzz::segment, 1, 1, fuzz::width, D, false, 0, 0}; }
  static void launch(scan_problem const& x, void* stream) {
    fuzz::require(!x.may_step || x.rows.n != 1 || x.rows.is_packed, "a step as a chunk");
    auto const other = fuzz::scan_of_others.find(fuzz::running.seen->spec->op->number);
    if (other != fuzz::scan_of_others.end()) other->second(x, stream);
    else fuzz::launch<T, D>(x, stream);
  }
};
template <class T, class Family> struct token_step_run {
  static void launch(scan_problem const& x, int C, void* stream) {
    fuzz::check_step<tk_linear_attention_problem>(x, C == fuzz::C,
                                                  [&](auto d) { fuzz::launch<T, d>(x, stream); });
  }
};
template <class T> struct chunk_decays_run {
  static void launch(decays_to_sum<T> const& x, void* stream) { fuzz::check_sums(x, stream); }
};
template <class T> struct decay_gradient_run {
  static void launch(decay_gradient_problem const& x, void* stream) {
    fuzz::leave_decays(x, stream);
  }
};
template struct decay_gradient_run<float>;
template struct chunk_decays_run<float>;
template struct token_step_run<bf16, linear_scans>;
template struct token_step_run<fp16, linear_scans>;
template struct chunk_scan_run<bf16, 64, linear_scans>;
template struct chunk_scan_run<bf16, 128, linear_scans>;
template struct chunk_scan_run<bf16, 256, linear_scans>;
template struct chunk_scan_run<fp16, 64, linear_scans>;
template struct chunk_scan_run<fp16, 128, linear_scans>;
template struct chunk_scan_run<fp16, 256, linear_scans>;

}  // namespace tk
