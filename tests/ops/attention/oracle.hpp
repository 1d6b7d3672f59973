// SPDX-License-Identifier: MIT
// The oracle of tk_attention_forward. For each row, in double precision, o and lse and these
// bounds, with u = 2^-24, p = exp(score - highest score), P = sum p:
//   scores   as products in the GEMM oracle, (4 + sqrt(d) / 4) scale |q| |k| u, and 4 u of the
//            score itself: scale log2(e), the product with it, the subtraction, exp2's argument. A
//            change of e in each score moves o by at most 2 e max|v|.
//   fp32     exp2 is good to 2^-21, the sums over keys to (4 + sqrt(nk) / 4) max|v| u.
//   p        rounded to 16 bits before the second product: errors of w p, w the type's unit
//            roundoff, in fp16 of at least 2^-25, independent of each other: 4 sqrt(sum (w p)^2)
//            max|v| / P, 10 standard deviations and more. And w |o|, because equal weights have
//            equal errors. Never above w max|v|.
// The running maximum lets weights be rounded at another scale than here: the same relative errors,
// drawn again, once for all columns of a row. Hence the norm's factor: 1.1, and the chance of two
// draws, 6 / sqrt(rows).
#pragma once
#include <cmath>
#include <mutex>

#include "tests/ops/attention/attention_forward.hpp"
#include "tests/support/parallel.hpp"
#include "tests/support/product.hpp"
#include "tests/support/random.hpp"

namespace tk::test {

constexpr std::int64_t attention_rows_at_once = 8;

inline double root(std::int64_t n) { return std::sqrt(static_cast<double>(n)); }

struct meters {
  error_meter o, lse{dtype::fp32};
};

// The results of one (batch, query head), and where they belong.
struct head_results {
  attention_operands const& x;
  std::int64_t batch, head;
  meters& into;

  void add_o(std::int64_t row, std::int64_t col, double exact, double slack, double unit = 0,
             double rest = 0) const {
    attention_case const& y = x.of;
    std::int64_t const at = (batch * y.nq + row) * y.hq + head;
    double const got = decode(y.type, x.o.result_row(at) + col * bytes_of(y.type));
    into.o.add(at, col, got, exact, slack, unit, rest);
  }
  void add_lse(std::int64_t row, double exact, double slack) const {
    if (!x.lse.in) return;
    std::int64_t const at = batch * x.of.hq + head;
    double const got = decode(dtype::fp32, x.lse.result_row(at) + row * 4);
    into.lse.add(at, row, got, exact, slack, 0, 0);
  }
  void add_unseeing(std::int64_t row) const {  // a row that sees no key: o = 0, lse = -inf
    for (std::int64_t c = 0; c < x.of.dv; ++c) add_o(row, c, 0, 0);
    add_lse(row, -HUGE_VAL, 0);
  }
};

// log of a sum that is exact but for `relative`, after fp32's log2 and a product with ln 2.
inline double lse_slack(double lse, double relative) {
  return relative + 0x1p-21 + 4 * fp32_roundoff * std::fabs(lse);
}

inline std::int64_t rows_of(attention_case const& x) {
  return x.sampled_rows ? std::min(x.sampled_rows, x.nq) : x.nq;
}
inline std::int64_t row_at(attention_case const& x, std::int64_t i) {
  std::int64_t const count = rows_of(x);
  return i == count - 1 ? x.nq - 1 : (x.nq * i + random_below(x.nq, 5, i)) / count;
}

// ---- random contents
struct key_head {
  panels k, v;  // k^T [d, nk]; v [nk, dv]
  double longest_key = 0;
  std::vector<double> highest_v;  // of each column
};

inline key_head read_keys(attention_operands const& x, std::int64_t batch, std::int64_t head) {
  attention_case const& y = x.of;
  key_head keys{panels(y.d, y.nk), panels(y.nk, y.dv), 0, std::vector<double>(y.dv)};
  std::vector<double> row(std::max(y.d, y.dv));
  for (std::int64_t j = 0; j < y.nk; ++j) {
    std::int64_t const at = (batch * y.nk + j) * y.hk + head;
    double norm = 0;
    read_row(y.type, x.k.image_row(at), y.d, row.data());
    for (std::int64_t c = 0; c < y.d; ++c) keys.k.at(c, j) = row[c], norm += row[c] * row[c];
    keys.longest_key = std::max(keys.longest_key, std::sqrt(norm));
    read_row(y.type, x.v.image_row(at), y.dv, row.data());
    for (std::int64_t c = 0; c < y.dv; ++c) {
      keys.v.at(j, c) = row[c];
      keys.highest_v[c] = std::max(keys.highest_v[c], std::fabs(row[c]));
    }
  }
  return keys;
}

// The running maximum lags behind: weights are rounded at another scale, and the largest, too,
// which at its own would be 1.
constexpr double rounding_scale = 1.37;

// What the softmax of one row commits, apart from v.
struct row_bounds {
  double sum = 0, lse = 0, fp32 = 0, scores = 0, p = 0;
};

// s: scores in, p out; rounded_p: p rounded.
inline row_bounds softmax(attention_case const& y, double* s, double* rounded_p, std::int64_t seen,
                          double q_norm, double longest_key) {
  double const scale = scale_of(y), u = format_of(y.type).unit_roundoff;
  double const least = y.type == dtype::fp16 ? 0x1p-25 : 0;
  double top = -HUGE_VAL, highest = 0, squares = 0;
  for (std::int64_t j = 0; j < seen; ++j) {
    s[j] *= scale;
    top = std::max(top, s[j]);
    highest = std::max(highest, std::fabs(s[j]));
  }
  row_bounds r;
  for (std::int64_t j = 0; j < seen; ++j) {
    s[j] = std::exp(s[j] - top);
    rounded_p[j] = rounded(y.type, s[j] * rounding_scale) / rounding_scale;
    double const error = std::max(u * s[j], least);
    r.sum += s[j];
    squares += error * error;
  }
  r.lse = top + std::log(r.sum);
  // Tensor cores may cut off where they add, which errs to one side: the d / 16 steps add up.
  r.scores = (4 + static_cast<double>(y.d) / 16) * fp32_roundoff * std::fabs(scale) * q_norm *
                 longest_key +
             4 * fp32_roundoff * highest;
  r.fp32 = (4 + root(seen) / 4) * fp32_roundoff;
  r.p = std::min(4 * std::sqrt(squares) / r.sum, u + static_cast<double>(seen) * least / r.sum);
  return r;
}

inline void compare_rows(attention_case const& y, key_head const& keys, head_results const& to,
                         std::int64_t from, std::int64_t count) {
  std::int64_t const lds = panels::padded(y.nk), ldo = panels::padded(y.dv);
  double const u = format_of(y.type).unit_roundoff;
  std::vector<double> q(count * y.d), s(2 * count * lds), o(2 * count * ldo);
  std::int64_t most = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    std::int64_t const row = row_at(y, from + i);
    read_row(y.type, to.x.q.image_row((to.batch * y.nq + row) * y.hq + to.head), y.d,
             q.data() + i * y.d);
    most = std::max(most, keys_seen(y, row));
  }
  keys.k.multiply(s.data(), q.data(), y.d, count, y.d);
  std::vector<row_bounds> bounds(count);
  for (std::int64_t i = 0; i < count; ++i) {
    std::int64_t const seen = keys_seen(y, row_at(y, from + i));
    double norm = 0;
    for (std::int64_t c = 0; c < y.d; ++c) norm += q[i * y.d + c] * q[i * y.d + c];
    double* const row = s.data() + i * lds;
    double* const row_rounded = row + count * lds;
    bounds[i] = softmax(y, row, row_rounded, seen, std::sqrt(norm), keys.longest_key);
    std::fill(row + seen, row + lds, 0.0);
  }
  keys.v.multiply(o.data(), s.data(), lds, 2 * count, most);
  for (std::int64_t i = 0; i < count; ++i) {
    std::int64_t const row = row_at(y, from + i);
    if (keys_seen(y, row) == 0) {
      to.add_unseeing(row);
      continue;
    }
    row_bounds const& r = bounds[i];
    for (std::int64_t c = 0; c < y.dv; ++c) {
      double const exact = o[i * ldo + c] / r.sum, same = o[(count + i) * ldo + c] / r.sum;
      double const high = keys.highest_v[c];
      double const fp32 = (2 * (r.scores + 0x1p-21) + r.fp32) * high + fp32_least_normal;
      double const p = r.p * high + u * std::fabs(exact);
      to.add_o(row, c, exact, fp32 + p, rounded(y.type, same) - exact, fp32);
    }
    to.add_lse(row, r.lse, lse_slack(r.lse, r.scores + r.fp32));
  }
}

// ---- flat: p is 1, o the mean of the first keys
inline void compare_flat(attention_case const& y, std::int64_t key_head, head_results const& to) {
  std::vector<double> sums(y.dv), values(y.dv);
  std::int64_t key = 0;
  for (std::int64_t row = 0; row < y.nq; ++row) {
    std::int64_t const seen = keys_seen(y, row);
    for (; key < seen; ++key) {
      read_row(y.type, to.x.v.image_row((to.batch * y.nk + key) * y.hk + key_head), y.dv,
               values.data());
      for (std::int64_t c = 0; c < y.dv; ++c) sums[c] += values[c];
    }
    if (seen == 0) {
      to.add_unseeing(row);
      continue;
    }
    // Only the fp32 sum of v, whose partial sums grow as sqrt(seen), and 1 / seen are rounded.
    double const count = static_cast<double>(seen);
    double const slack = (4 + root(seen) / 4) * fp32_roundoff;
    for (std::int64_t c = 0; c < y.dv; ++c) {
      double const exact = sums[c] / count;
      to.add_o(row, c, exact, slack);
    }
    to.add_lse(row, std::log(count), lse_slack(std::log(count), 0));
  }
}

// ---- select: one p is 1 to within 2^-14, the others are 0; o is a row of v exactly
inline void compare_select(attention_case const& y, std::int64_t key_head, head_results const& to) {
  std::vector<double> values(y.dv);
  for (std::int64_t row = 0; row < y.nq; ++row) {
    std::int64_t const key = selected_key(y, to.batch * y.hq + to.head, row);
    if (key < 0) {
      to.add_unseeing(row);
      continue;
    }
    read_row(y.type, to.x.v.image_row((to.batch * y.nk + key) * y.hk + key_head), y.dv,
             values.data());
    for (std::int64_t c = 0; c < y.dv; ++c) to.add_o(row, c, values[c], 0);
    double const lse = double{scale_of(y)} * static_cast<double>(y.d);
    to.add_lse(row, lse, lse_slack(lse, 4 * fp32_roundoff * lse));
  }
}

// The result in memory with the oracle. `general`: with the one that knows nothing of the contents.
inline verdict compare(attention_operands const& x, bool general = false) {
  attention_case const& y = x.of;
  meters total{error_meter(y.type)};
  std::int64_t const group = y.hk ? y.hq / y.hk : 1, rows = rows_of(y);
  bool const special = y.values != scores::random && !general;
  // One head's rows are split where there are too few heads to keep every processor busy.
  std::int64_t const heads = y.b * y.hk;
  std::int64_t const parts =
      special ? 1
              : std::clamp<std::int64_t>(processors() / std::max<std::int64_t>(1, heads), 1,
                                         std::max<std::int64_t>(1, rows));
  std::mutex merging;
  parallel_for(heads * parts, [&](std::int64_t task) {
    std::int64_t const part = task % parts, batch = task / parts / y.hk, head = task / parts % y.hk;
    meters mine{error_meter(y.type)};
    std::optional<key_head> keys;
    if (!special) keys = read_keys(x, batch, head);
    for (std::int64_t h = head * group; h < (head + 1) * group; ++h) {
      head_results const to{x, batch, h, mine};
      if (special && y.values == scores::flat) compare_flat(y, head, to);
      else if (special) compare_select(y, head, to);
      else
        for (std::int64_t from = rows * part / parts; from < rows * (part + 1) / parts;
             from += attention_rows_at_once)
          compare_rows(y, *keys, to, from,
                       std::min(attention_rows_at_once, rows * (part + 1) / parts - from));
    }
    std::scoped_lock const lock(merging);
    total.o.merge(mine.o);
    total.lse.merge(mine.lse);
  });
  std::int64_t const done = y.b * y.hq * (special ? y.nq : rows);
  std::int64_t const least = y.values == scores::random ? 256 : INT64_MAX;
  double const chance = 6 / std::sqrt(static_cast<double>(std::max<std::int64_t>(1, done)));
  auto v = total.o.judge("o", 1.1 + chance, least);
  auto const l = total.lse.judge("lse", 1, INT64_MAX);
  if (v.ok()) v.wrong = l.wrong;
  if (v.ok() && (v.compared != done * y.dv || l.compared != (x.lse.in ? done : 0)))
    v.wrong = "compared " + std::to_string(v.compared) + " and " + std::to_string(l.compared) +
              " elements of " + std::to_string(done * y.dv) + " and " + std::to_string(done);
  v.compared += l.compared;
  return v;
}

inline verdict run(attention_case const& x) {
  attention_operands operands(x);
  verdict v;
  v.wrong = launch_twice(operands);
  if (!v.ok()) return v;
  v = compare(operands);
  if (!v.ok()) return v;
  std::vector<tensor> written{operands.o};
  if (operands.lse.in) written.push_back(operands.lse);
  v.wrong = check_untouched(operands.memories, written);
  return v;
}

}  // namespace tk::test
