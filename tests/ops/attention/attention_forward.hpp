// SPDX-License-Identifier: MIT
// One case of tk_attention_forward: sizes, contents, layouts in memory, and how to judge it.
//   o = softmax(scale q k^T + mask) v, lse = ln sum exp(scale q k^T + mask)
// attention_operands builds the operands, launch_twice() launches; oracle.hpp judges.
#pragma once
#include <optional>
#include <sstream>
#include <string>

#include "ops/attention/attention_forward.h"
#include "tests/support/launch.hpp"
#include "tests/support/parallel.hpp"
#include "tests/support/random.hpp"
#include "tests/support/verdict.hpp"

namespace tk::test {

// How a [b, n, h, d] operand lies in memory, in elements.
struct heads_layout {
  enum class order { bnhd, bhnd, nbhd, hbnd };
  order by = order::bnhd;
  std::int64_t padding = 0;  // elements after each row of d
  int misalignment = 0;      // of the first element, from a multiple of 256 bytes
  bool reversed = false;     // negative stride of n
  bool null_strides = false;
  std::uint64_t byte_offset = 0;
};

enum class scores {
  random,  // q, k, v uniform in (-1, 1)
  flat,    // q or scale 0: each weight is 1, o the mean of the keys seen, lse ln of their number
  select,  // every query equals one of its keys, far above the others: o is that key's row of v
};
enum class packing {
  apart,  // q, k, v in memories of their own
  qkv,    // slices of one [b, n, hq + 2 hk, d]
  qkvo,   // o, too, is a slice of it, [b, n, 2 hq + 2 hk, d]: nothing shared but the memory
  kv,     // k and v slices of one [b, nk, 2, hk, d]
};
enum class lse_use { dense, none, strided, reversed };

struct attention_case {
  std::int64_t b, hq, hk, nq, nk, d, dv;
  tk_mask mask = TK_MASK_NONE;
  dtype type = dtype::bf16;
  scores values = scores::random;
  std::optional<float> scale = {};  // 1 / sqrt(d) if not given; select brings its own
  double q_factor = 1, k_factor = 1;
  bool one_sign = false;  // all q k > 0 times the sign of the factors
  packing pack = packing::apart;
  heads_layout q_layout = {}, k_layout = {}, v_layout = {}, o_layout = {};
  lse_use lse = lse_use::dense;
  std::int64_t sampled_rows = 0;  // of each head; 0: all
};

// A key that matches stands this far above one that has nothing in common; exp(-640) is 0 in fp32.
constexpr float select_score = 640;

inline float scale_of(attention_case const& x) {
  if (x.values == scores::select) return select_score / static_cast<float>(x.d);
  return x.scale.value_or(1 / std::sqrt(static_cast<float>(x.d)));
}

// How many keys query `row` sees: the first so many.
inline std::int64_t keys_seen(attention_case const& x, std::int64_t row) {
  if (x.mask == TK_MASK_NONE) return x.nk;
  return std::clamp<std::int64_t>(row + 1 + x.nk - x.nq, 0, x.nk);
}

// scores::select: the key that query `row` of a head equals, or -1 if it sees none.
inline std::int64_t selected_key(attention_case const& x, std::int64_t head, std::int64_t row) {
  std::int64_t const seen = keys_seen(x, row);
  return seen == 0 ? -1 : random_below(seen, 22, head * x.nq + row);
}

// The operands of one case.
struct attention_operands {
  explicit attention_operands(attention_case const& x);
  attention_operands(attention_operands const&) = delete;

  attention_case of;
  world memories;
  tensor q, k, v, o, lse;
};

struct sizes {
  std::int64_t b, n, h, d;
};

inline std::vector<std::int64_t> strides_of(sizes const& x, heads_layout const& how) {
  using order = heads_layout::order;
  std::int64_t const row = x.d + how.padding;
  std::int64_t b, n, h;
  switch (how.by) {
    case order::bhnd: n = row, h = x.n * n, b = x.h * h; break;
    case order::nbhd: h = row, b = x.h * h, n = x.b * b; break;
    case order::hbnd: n = row, b = x.n * n, h = x.b * b; break;
    default: h = row, n = x.h * h, b = x.n * n; break;
  }
  return {b, how.reversed ? -n : n, h, 1};
}

inline tensor place(world& w, dtype type, sizes const& x, heads_layout const& how, role use) {
  tensor t = w.make(type, {x.b, x.n, x.h, x.d}, strides_of(x, how), use, how.misalignment);
  t.null_strides = how.null_strides;
  t.byte_offset = how.byte_offset;
  return t;
}

// `count` heads of a packed [b, n, h, d], from head `first`.
inline tensor slice(tensor const& whole, std::int64_t first, std::int64_t count) {
  tensor t = whole;
  t.origin += first * whole.strides[2];
  t.shape[2] = count;
  return t;
}

inline void place_all(attention_operands& x) {
  attention_case const& y = x.of;
  sizes const q{y.b, y.nq, y.hq, y.d}, k{y.b, y.nk, y.hk, y.d}, v{y.b, y.nk, y.hk, y.dv};
  auto const alone = [&](sizes const& s, heads_layout const& how, role use) {
    return place(x.memories, y.type, s, how, use);
  };
  if (y.pack == packing::qkv || y.pack == packing::qkvo) {
    bool const all = y.pack == packing::qkvo;
    std::int64_t const heads = y.hq + 2 * y.hk;
    auto const whole = alone({y.b, y.nq, heads + (all ? y.hq : 0), y.d}, y.q_layout,
                             all ? role::output : role::input);
    x.q = slice(whole, 0, y.hq);
    x.k = slice(whole, y.hq, y.hk);
    x.v = slice(whole, y.hq + y.hk, y.hk);
    if (all) x.o = slice(whole, heads, y.hq);
  } else {
    x.q = alone(q, y.q_layout, role::input);
    if (y.pack == packing::kv) {
      auto const whole = alone({y.b, y.nk, 2 * y.hk, y.d}, y.k_layout, role::input);
      x.k = slice(whole, 0, y.hk);
      x.v = slice(whole, y.hk, y.hk);
    } else {
      x.k = alone(k, y.k_layout, role::input);
      x.v = alone(v, y.v_layout, role::input);
    }
  }
  if (!x.o.in) x.o = alone({y.b, y.nq, y.hq, y.dv}, y.o_layout, role::output);
  if (y.lse == lse_use::none) return;
  std::vector<std::int64_t> const shape{y.b, y.hq, y.nq};
  auto strides = row_major(shape);
  if (y.lse == lse_use::strided) strides = {y.nq + 3, y.b * (y.nq + 3) + 5, 1};
  if (y.lse == lse_use::reversed) strides[0] *= -1, strides[1] *= -1;
  x.lse = x.memories.make(dtype::fp32, shape, strides, role::output, 1);
  x.lse.null_strides = y.lse == lse_use::dense;
}

// Keys of +-1 at random; every query is one of them.
inline void fill_select(attention_operands& x) {
  attention_case const& y = x.of;
  auto const code = [&](std::int64_t key, std::int64_t col) {
    return random_bits(21, key * y.d + col) & 1 ? 1.0 : -1.0;
  };
  parallel_for(x.k.rows(), [&](std::int64_t r) {
    for (std::int64_t c = 0; c < y.d; ++c) set(x.k, r, c, code(r, c));
  });
  parallel_for(x.q.rows(), [&](std::int64_t r) {
    std::int64_t const head = r % y.hq, row = r / y.hq % y.nq, batch = r / y.hq / y.nq;
    std::int64_t const key = selected_key(y, batch * y.hq + head, row);
    std::int64_t const equal = (batch * y.nk + key) * y.hk + head / (y.hq / y.hk);
    for (std::int64_t c = 0; c < y.d; ++c) set(x.q, r, c, key < 0 ? 1 : code(equal, c));
  });
}

inline void describe(std::ostream& s, char const* name, heads_layout const& x) {
  static char const* const orders[] = {"", "bhnd", "nbhd", "hbnd"};
  std::ostringstream t;
  t << orders[static_cast<int>(x.by)];
  if (x.padding) t << " +" << x.padding;
  if (x.misalignment) t << " off by " << x.misalignment;
  if (x.reversed) t << " reversed";
  if (x.null_strides) t << " no strides";
  if (x.byte_offset) t << " byte_offset " << x.byte_offset;
  if (!t.str().empty()) s << ", " << name << ": " << t.str();
}

inline std::string describe(attention_case const& x) {
  static char const* const values[] = {"random", "flat", "select"};
  static char const* const packs[] = {"", " packed qkv", " packed qkvo", " packed kv"};
  static char const* const lses[] = {"", " no lse", " lse strided", " lse reversed"};
  std::ostringstream s;
  s << "attention b " << x.b << " hq " << x.hq << " hk " << x.hk << " nq " << x.nq << " nk " << x.nk
    << " d " << x.d << " dv " << x.dv << (x.mask == TK_MASK_CAUSAL ? " causal " : " full ")
    << name_of(x.type) << " " << values[static_cast<int>(x.values)] << " scale " << scale_of(x)
    << " q*" << x.q_factor << " k*" << x.k_factor << (x.one_sign ? " one sign" : "")
    << packs[static_cast<int>(x.pack)] << lses[static_cast<int>(x.lse)];
  describe(s, "q", x.q_layout);
  describe(s, "k", x.k_layout);
  describe(s, "v", x.v_layout);
  describe(s, "o", x.o_layout);
  return s.str();
}

inline attention_operands::attention_operands(attention_case const& x) : of(x), memories(3) {
  place_all(*this);
  data const some = x.one_sign ? data::positive : data::reals;
  bool const zero = x.values == scores::flat && scale_of(x) != 0;
  fill(q, zero ? data::zeros : some, 31, x.q_factor);
  fill(k, some, 32, x.k_factor);
  fill(v, data::reals, 33);
  if (x.values == scores::select) fill_select(*this);
  fill(o, data::nans, 0);
  if (lse.in) fill(lse, data::nans, 0);
}

template <class Body> std::string with_problem(attention_operands const& x, Body const& body) {
  DLTensor const q = x.q.dl(), k = x.k.dl(), v = x.v.dl(), o = x.o.dl();
  DLTensor const lse = x.lse.in ? x.lse.dl() : DLTensor{};
  tk_attention_forward_problem problem{};
  problem.size = sizeof problem;
  problem.q = &q;
  problem.k = &k;
  problem.v = &v;
  problem.o = &o;
  problem.lse = x.lse.in ? &lse : nullptr;
  problem.mask = x.of.mask;
  problem.scale = scale_of(x.of);
  return body(called_op{TK_OP_ATTENTION_FORWARD, tk_attention_forward},
              static_cast<tk_attention_forward_problem const*>(&problem));
}

}  // namespace tk::test
