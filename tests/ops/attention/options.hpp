// SPDX-License-Identifier: MIT
// One case of tk_attention_forward with options (ops/attention/attention_options.h): what is asked,
// and its operands. options_oracle.hpp judges.
#pragma once
#include <optional>
#include <sstream>
#include <string>

#include "ops/attention/attention_forward.h"
#include "tests/support/dropout.hpp"
#include "tests/support/launch.hpp"
#include "tests/support/parallel.hpp"
#include "tests/support/random.hpp"
#include "tests/support/verdict.hpp"

namespace tk::test {

enum class alibi_use { none, by_head, by_batch_and_head };
enum class bias_use { none, fp32, same };  // same: the type of q

// Packed sequences have offsets; nq and nk are then those of all of them, and b counts them.
struct option_case {
  std::int64_t b = 1, hq = 1, hk = 1, nq = 0, nk = 0, d = 64, dv = 64;
  tk_mask mask = TK_MASK_NONE;
  dtype type = dtype::bf16;
  float scale = 0.125f;
  double q_factor = 1;
  std::optional<int> left = {}, right = {};
  float softcap = 0, dropout = 0;
  alibi_use alibi = alibi_use::none;
  bias_use bias = bias_use::none;
  bool one_bias_batch = false, one_bias_head = false, unseen_bias = false;  // some of it -inf
  bool sinks = false;
  std::uint64_t seed = 0, offset = 0;
  bool random_state = false;  // seed and offset on the device
  std::int64_t padding = 0;   // elements after each row of q, k, v, o and bias
  bool lse = true;
  std::vector<std::int32_t> q_starts = {}, k_starts = {};
  std::int64_t max_nq = 0, max_nk = 0;
  bool packed() const { return !q_starts.empty(); }
};

// A sequence: where its rows and keys begin and how many there are, as the header says.
struct span {
  std::int64_t q, k, nq, nk;
};
inline span span_of(option_case const& x, std::int64_t s) {
  if (!x.packed()) return {0, 0, x.nq, x.nk};
  auto const cut = [](std::vector<std::int32_t> const& starts, std::int64_t at, std::int64_t all,
                      std::int64_t most, std::int64_t& n) {
    auto const i = static_cast<std::size_t>(at);
    auto const from = std::clamp<std::int64_t>(starts[i], 0, all);
    n = std::max<std::int64_t>(0, std::clamp<std::int64_t>(starts[i + 1], 0, all) - from);
    if (most > 0) n = std::min(n, most);
    return from;
  };
  span y{};
  y.q = cut(x.q_starts, s, x.nq, x.max_nq, y.nq);
  y.k = cut(x.k_starts, s, x.nk, x.max_nk, y.nk);
  return y;
}

// o and lse are what the forward writes, or what the backward reads.
struct option_operands {
  explicit option_operands(option_case const& x, role of_o = role::output);
  option_operands(option_operands const&) = delete;

  option_case of;
  world memories;
  tensor q, k, v, o, lse, alibi, bias, sinks;
  device_numbers q_starts, k_starts, random_state;

  // Rows of tensors: of q and o, of k and v, of lse (where rows are heads) and its column.
  std::int64_t q_row(std::int64_t s, std::int64_t row, std::int64_t head) const {
    return ((of.packed() ? span_of(of, s).q : s * of.nq) + row) * of.hq + head;
  }
  std::int64_t k_row(std::int64_t s, std::int64_t key, std::int64_t head) const {
    return ((of.packed() ? span_of(of, s).k : s * of.nk) + key) * of.hk + head;
  }
  std::byte const* lse_at(std::int64_t s, std::int64_t row, std::int64_t head) const {
    bool const packed = of.packed();
    return lse.result_row(packed ? head : s * of.hq + head) +
           4 * ((packed ? span_of(of, s).q : 0) + row);
  }
};

inline tensor place_rows(option_operands& x, dtype type, std::int64_t n, std::int64_t h,
                         std::int64_t d, role use) {
  std::int64_t const row = d + x.of.padding;
  if (x.of.packed()) return x.memories.make(type, {n, h, d}, {h * row, row, 1}, use);
  return x.memories.make(type, {x.of.b, n, h, d}, {n * h * row, h * row, row, 1}, use);
}

inline void fill_bias(option_operands& x) {
  auto const& y = x.of;
  std::int64_t const b = y.one_bias_batch ? 1 : y.b, h = y.one_bias_head ? 1 : y.hq;
  std::int64_t const nq = y.packed() && y.max_nq ? y.max_nq : y.nq,
                     nk = y.packed() && y.max_nk ? y.max_nk : y.nk, row = nk + y.padding;
  x.bias = x.memories.make(y.bias == bias_use::fp32 ? dtype::fp32 : y.type, {b, h, nq, nk},
                           {h * nq * row, nq * row, row, 1}, role::input, 1);
  fill(x.bias, data::reals, 44, 3);
  if (y.unseen_bias)
    for (std::int64_t r = 0; r < x.bias.rows(); ++r)
      for (std::int64_t c = 0; c < nk; ++c)
        if (random_below(5, 45, r * nk + c) == 0) set(x.bias, r, c, -HUGE_VAL);
}

inline option_operands::option_operands(option_case const& x, role of_o) : of(x), memories(3) {
  q = place_rows(*this, x.type, x.nq, x.hq, x.d, role::input);
  k = place_rows(*this, x.type, x.nk, x.hk, x.d, role::input);
  v = place_rows(*this, x.type, x.nk, x.hk, x.dv, role::input);
  o = place_rows(*this, x.type, x.nq, x.hq, x.dv, of_o);
  fill(q, data::reals, 31, x.q_factor);
  fill(k, data::reals, 32);
  fill(v, data::reals, 33);
  fill(o, data::nans, 0);
  if (x.lse) {
    std::vector<std::int64_t> const shape =
        x.packed() ? std::vector{x.hq, x.nq} : std::vector{x.b, x.hq, x.nq};
    lse = memories.make(dtype::fp32, shape, row_major(shape), of_o, 1);
    fill(lse, data::nans, 0);
  }
  if (x.alibi != alibi_use::none) {
    std::vector<std::int64_t> shape{x.hq};
    if (x.alibi == alibi_use::by_batch_and_head) shape.insert(shape.begin(), x.b);
    alibi = memories.make(dtype::fp32, shape, row_major(shape), role::input);
    fill(alibi, data::positive, 41, 0.25);
  }
  if (x.sinks) {
    sinks = memories.make(dtype::fp32, {x.hq}, {1}, role::input);
    fill(sinks, data::reals, 42, 4);
  }
  if (x.bias != bias_use::none) fill_bias(*this);
  if (x.packed()) {
    q_starts = put_numbers(memories, {kDLInt, 32, 1}, x.q_starts);
    k_starts = put_numbers(memories, {kDLInt, 32, 1}, x.k_starts);
  }
  if (x.random_state)
    random_state = put_numbers(memories, {kDLUInt, 64, 1}, std::vector{x.seed, x.offset});
}

inline DLTensor dl_of(tensor const& t) { return t.in ? t.dl() : DLTensor{}; }

// body(options)
template <class Body> std::string with_options(option_operands& x, Body const& body) {
  auto const& y = x.of;
  DLTensor const alibi = dl_of(x.alibi), bias = dl_of(x.bias), sinks = dl_of(x.sinks);
  DLTensor q_starts{}, k_starts{}, state{};
  tk_attention_options options{};
  options.size = sizeof options;
  options.has_window_left = y.left.has_value();
  options.window_left = y.left.value_or(0);
  options.has_window_right = y.right.has_value();
  options.window_right = y.right.value_or(0);
  options.softcap = y.softcap;
  options.dropout = y.dropout;
  options.alibi = x.alibi.in ? &alibi : nullptr;
  options.bias = x.bias.in ? &bias : nullptr;
  options.sinks = x.sinks.in ? &sinks : nullptr;
  if (y.packed()) {
    q_starts = x.q_starts.dl(), k_starts = x.k_starts.dl();
    options.q_starts = &q_starts;
    options.k_starts = &k_starts;
  }
  options.max_nq = y.max_nq;
  options.max_nk = y.max_nk;
  if (x.random_state.in) {
    state = x.random_state.dl();
    options.random_state = &state;
  } else {
    options.seed = y.seed;
    options.offset = y.offset;
  }
  return body(static_cast<tk_attention_options const*>(&options));
}

template <class Body> std::string with_problem(option_operands& x, Body const& body) {
  auto const& y = x.of;
  DLTensor const q = dl_of(x.q), k = dl_of(x.k), v = dl_of(x.v), o = dl_of(x.o), lse = dl_of(x.lse);
  tk_attention_forward_problem problem{};
  problem.size = sizeof problem;
  problem.q = &q;
  problem.k = &k;
  problem.v = &v;
  problem.o = &o;
  problem.lse = x.lse.in ? &lse : nullptr;
  problem.mask = y.mask;
  problem.scale = y.scale;
  return with_options(x, [&](tk_attention_options const* options) {
    problem.options = options;
    return body(called_op{TK_OP_ATTENTION_FORWARD, tk_attention_forward},
                static_cast<tk_attention_forward_problem const*>(&problem));
  });
}

inline std::string describe(option_case const& x) {
  std::ostringstream s;
  s << "attention b " << x.b << " hq " << x.hq << " hk " << x.hk << " nq " << x.nq << " nk " << x.nk
    << " d " << x.d << " dv " << x.dv << (x.mask == TK_MASK_CAUSAL ? " causal " : " ")
    << name_of(x.type) << " scale " << x.scale << " q*" << x.q_factor;
  if (x.left) s << " left " << *x.left;
  if (x.right) s << " right " << *x.right;
  if (x.softcap) s << " softcap " << x.softcap;
  if (x.dropout) s << " dropout " << x.dropout << " seed " << x.seed << " offset " << x.offset;
  if (x.random_state) s << " state";
  if (x.alibi != alibi_use::none)
    s << " alibi" << (x.alibi == alibi_use::by_head ? "" : " by batch");
  if (x.bias != bias_use::none)
    s << " bias" << (x.bias == bias_use::fp32 ? " fp32" : "") << (x.one_bias_batch ? " b 1" : "")
      << (x.one_bias_head ? " h 1" : "") << (x.unseen_bias ? " -inf" : "");
  if (x.sinks) s << " sinks";
  if (x.padding) s << " +" << x.padding;
  if (!x.lse) s << " no lse";
  for (auto const* starts : {&x.q_starts, &x.k_starts}) {
    if (x.packed()) s << (starts == &x.q_starts ? " q" : " k");
    for (auto const at : *starts) s << " " << at;
  }
  if (x.max_nq || x.max_nk) s << " at most " << x.max_nq << ", " << x.max_nk;
  return s.str();
}

}  // namespace tk::test
