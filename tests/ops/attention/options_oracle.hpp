// SPDX-License-Identifier: MIT
// The oracle of attention with options, row by row in double precision. Bounds are those of
// oracle.hpp; a score's error grows on its way, with u = 2^-24:
//   scale    2 u of the score (scale, and the softcap's inverse times it)
//   softcap  tanh is good to 2^-21; an error before it shrinks as tanh does, which is monotonous
//   ALiBi    u slope distance, and u of the sum;   bias: u of the sum
// Kept weights are divided by the share that is kept, and so are errors. Random bytes are drawn by
// their definition (core/random.hpp), written apart from it.
#pragma once
#include <cmath>
#include <mutex>

#include "tests/ops/attention/options.hpp"
#include "tests/support/dropout.hpp"

namespace tk::test {

inline unsigned random_byte(option_case const& x, std::int64_t s, std::int64_t head,
                            std::int64_t row, std::int64_t col) {
  return random_byte_of_plane(x.seed, x.offset, s * x.hq + head, row, col);
}
inline unsigned drop_below(option_case const& x) { return drop_below(x.dropout); }

// Does row `row` of sequence `of` see key `key`?
inline bool sees(option_case const& x, span const& of, std::int64_t row, std::int64_t key) {
  std::int64_t const opposite = row + of.nk - of.nq;
  return (x.mask == TK_MASK_NONE || key <= opposite) && (!x.left || key >= opposite - *x.left) &&
         (!x.right || key <= opposite + *x.right);
}

struct bounded_score {
  double value, error;
};
// After the softcap.
inline bounded_score capped_score(option_case const& y, double raw, double norms) {
  constexpr double u = fp32_roundoff;
  double const t = raw * y.scale;
  double const e =
      (4 + static_cast<double>(y.d) / 16) * u * std::fabs(y.scale) * norms + 2 * u * std::fabs(t);
  if (y.softcap == 0) return {t, e};
  double const c = y.softcap, low = c * std::tanh((t - e) / c), high = c * std::tanh((t + e) / c);
  double const capped = c * std::tanh(t / c);
  return {capped, std::max(high - capped, capped - low) + 0x1p-21 * std::fabs(capped)};
}
// What a head adds to its scores; bias is [nq, nk].
struct head_terms {
  std::optional<double> slope = {};
  std::vector<double> bias = {};
};
inline bounded_score add_terms(bounded_score x, head_terms const& terms, span const& of,
                               std::int64_t row, std::int64_t key) {
  constexpr double u = fp32_roundoff;
  auto& [t, e] = x;
  if (terms.slope) {
    double const term = *terms.slope * static_cast<double>(std::llabs(row + of.nk - of.nq - key));
    t -= term;
    e += u * (term + std::fabs(t));
  }
  if (!terms.bias.empty()) {
    double const term = terms.bias[static_cast<std::size_t>(row * of.nk + key)];
    if (term == -HUGE_VAL) return {term, 0};
    t += term;
    e += u * std::fabs(t);
  }
  return {t, e + 4 * u * std::fabs(t)};
}
inline head_terms terms_of(option_operands const& x, std::int64_t s, std::int64_t head) {
  auto const& y = x.of;
  auto const of = span_of(y, s);
  head_terms terms;
  if (x.alibi.in)
    terms.slope =
        decode(dtype::fp32, x.alibi.image_row(x.alibi.shape.size() == 2 ? s : 0) + head * 4);
  if (!x.bias.in) return terms;
  std::int64_t const b = y.one_bias_batch ? 0 : s, h = y.one_bias_head ? 0 : head;
  terms.bias.resize(static_cast<std::size_t>(of.nq * of.nk));
  for (std::int64_t i = 0; i < of.nq; ++i)
    read_row(x.bias.type, x.bias.image_row((b * x.bias.shape[1] + h) * x.bias.shape[2] + i), of.nk,
             terms.bias.data() + i * of.nk);
  return terms;
}
inline double sink_of(option_operands const& x, std::int64_t head) {
  return x.sinks.in ? decode(dtype::fp32, x.sinks.image_row(0) + head * 4) : -HUGE_VAL;
}

struct option_meters {
  error_meter o, lse{dtype::fp32};
};

// One head of a sequence, in doubles.
struct head_values {
  std::vector<double> q, k, v, highest_v;
  head_terms terms;
  head_values(option_operands const& x, std::int64_t s, std::int64_t head)
      : terms(terms_of(x, s, head)) {
    auto const& y = x.of;
    auto const of = span_of(y, s);
    std::int64_t const key_head = head / (y.hq / y.hk);
    q.resize(of.nq * y.d), k.resize(of.nk * y.d), v.resize(of.nk * y.dv), highest_v.resize(y.dv);
    for (std::int64_t i = 0; i < of.nq; ++i)
      read_row(y.type, x.q.image_row(x.q_row(s, i, head)), y.d, q.data() + i * y.d);
    for (std::int64_t j = 0; j < of.nk; ++j) {
      read_row(y.type, x.k.image_row(x.k_row(s, j, key_head)), y.d, k.data() + j * y.d);
      read_row(y.type, x.v.image_row(x.k_row(s, j, key_head)), y.dv, v.data() + j * y.dv);
      for (std::int64_t c = 0; c < y.dv; ++c)
        highest_v[c] = std::max(highest_v[c], std::fabs(v[j * y.dv + c]));
    }
  }
};

inline void compare_row(option_operands const& x, head_values const& in, std::int64_t s,
                        std::int64_t head, std::int64_t row, option_meters& into) {
  auto const& y = x.of;
  auto const of = span_of(y, s);
  double const u = format_of(y.type).unit_roundoff, least = y.type == dtype::fp16 ? 0x1p-25 : 0;
  std::vector<bounded_score> scores(of.nk, {-HUGE_VAL, 0});
  double top = -HUGE_VAL, error = 0;
  std::int64_t seen = 0;
  for (std::int64_t j = 0; j < of.nk; ++j) {
    if (!sees(y, of, row, j)) continue;
    double raw = 0, qq = 0, kk = 0;
    for (std::int64_t c = 0; c < y.d; ++c) {
      double const a = in.q[row * y.d + c], b = in.k[j * y.d + c];
      raw += a * b, qq += a * a, kk += b * b;
    }
    scores[j] = add_terms(capped_score(y, raw, std::sqrt(qq * kk)), in.terms, of, row, j);
    top = std::max(top, scores[j].value);
    error = std::max(error, scores[j].error);
    seen += scores[j].value != -HUGE_VAL;
  }
  double const sink = sink_of(x, head);
  double sum = 0, squares = 0;
  std::vector<double> exact(y.dv), same(y.dv);
  double const kept = 256.0 / (256 - drop_below(y));
  for (std::int64_t j = 0; j < of.nk && seen > 0; ++j) {
    double const p = std::exp(scores[j].value - top);
    if (p == 0) continue;
    double const e = std::max(u * p, least);
    sum += p, squares += e * e;
    if (y.dropout > 0 && random_byte(y, s, head, row, j) < drop_below(y)) continue;
    for (std::int64_t c = 0; c < y.dv; ++c) {
      exact[c] += kept * p * in.v[j * y.dv + c];
      same[c] += kept * rounded(y.type, p) * in.v[j * y.dv + c];
    }
  }
  double const keys = sum;
  if (seen > 0) sum += std::exp(sink - top);
  double const fp32 = (4 + std::sqrt(static_cast<double>(seen)) / 4) * fp32_roundoff +
                      (x.sinks.in ? 0x1p-20 + 8 * fp32_roundoff * std::fabs(sink) : 0);
  double const rounding = seen == 0
                              ? 0
                              : std::min(4 * std::sqrt(squares) / sum,
                                         u * keys / sum + static_cast<double>(seen) * least / sum);
  auto const* const out = x.o.result_row(x.q_row(s, row, head));
  for (std::int64_t c = 0; c < y.dv; ++c) {
    double const got = decode(y.type, out + c * bytes_of(y.type));
    if (seen == 0) {
      into.o.add(row, c, got, 0, 0, 0, 0);
      continue;
    }
    double const value = exact[c] / sum, high = kept * in.highest_v[c];
    double const rest = (2 * (error + 0x1p-21) + fp32) * high + fp32_least_normal;
    into.o.add(row, c, got, value, rest + rounding * high + u * std::fabs(value),
               rounded(y.type, same[c] / sum) - value, rest);
  }
  if (!x.lse.in) return;
  double const got = decode(dtype::fp32, x.lse_at(s, row, head));
  double const lse = seen == 0 ? sink : top + std::log(sum);
  double const slack =
      std::isinf(lse) ? 0 : error + fp32 + 0x1p-21 + 4 * fp32_roundoff * std::fabs(lse);
  into.lse.add(head, row, got, lse, slack, 0, 0);
}

inline verdict compare(option_operands const& x) {
  auto const& y = x.of;
  option_meters all{error_meter(y.type)};
  std::mutex merging;
  std::int64_t rows = 0;
  for (std::int64_t s = 0; s < y.b; ++s) rows += span_of(y, s).nq * y.hq;
  parallel_for(y.b * y.hq, [&](std::int64_t task) {
    std::int64_t const s = task / y.hq, head = task % y.hq;
    head_values const in(x, s, head);
    option_meters mine{error_meter(y.type)};
    for (std::int64_t row = 0; row < span_of(y, s).nq; ++row)
      compare_row(x, in, s, head, row, mine);
    std::scoped_lock const lock(merging);
    all.o.merge(mine.o);
    all.lse.merge(mine.lse);
  });
  // Weights are rounded at another scale than here: the same errors, drawn again. All columns of a
  // row share those of its weights, of which few count, so that a row is one draw. Its squared
  // error varies by about its mean; the root of a ratio of two such sums by 0.7 / sqrt(rows), of
  // which this is six times.
  double const chance = 4.2 / std::sqrt(static_cast<double>(std::max<std::int64_t>(1, rows)));
  auto v = all.o.judge("o", 1.1 + chance, 256);
  auto const l = all.lse.judge("lse", 1, INT64_MAX);
  if (v.ok()) v.wrong = l.wrong;
  if (v.ok() && (v.compared != rows * y.dv || l.compared != (x.lse.in ? rows : 0)))
    v.wrong = "compared " + std::to_string(v.compared) + " and " + std::to_string(l.compared);
  v.compared += l.compared;
  return v;
}

// The outputs' elements that the op must write: packed, those of each sequence.
inline std::vector<tensor> written_by(option_operands const& x) {
  auto const& y = x.of;
  std::vector<tensor> all;
  for (std::int64_t s = 0; s < (y.packed() ? y.b : 1); ++s) {
    auto const of = span_of(y, s);
    for (auto const* t : {&x.o, &x.lse}) {
      if (!t->in) continue;
      all.push_back(*t);
      if (!y.packed()) continue;
      std::size_t const axis = t == &x.lse;
      all.back().origin += of.q * t->strides[axis];
      all.back().shape[axis] = of.nq;
    }
  }
  return all;
}

inline verdict run(option_case const& x) {
  option_operands operands(x);
  verdict v;
  v.wrong = launch_twice(operands);
  if (!v.ok()) return v;
  v = compare(operands);
  if (v.ok()) v.wrong = check_untouched(operands.memories, written_by(operands));
  return v;
}

}  // namespace tk::test
