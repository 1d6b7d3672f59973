// SPDX-License-Identifier: MIT
// cross_entropy: with s = x, or softcap tanh(x / softcap), e = label_smoothing, t the label
//           lse = log(sum_j exp s_j)
//           loss = lse - (1 - e) s_t - e / vocab sum_j s_j + z_loss lse^2
//           dx_j = dloss (p_j (1 + 2 z_loss lse) - (1 - e) [j = t] - e / vocab) ds_j / dx_j,
//           p_j = exp(s_j - lse)
// Shapes    x, dx[outer, middle, rows, vocab]; labels, loss, lse, dloss[outer, middle, rows].
//           An ignored row has loss 0 and dx 0; one whose label is no column NaN.
// Numerics  fp32, exponentials and logarithms in base 2; loss and lse are natural. dx is rounded
//           once. lse is found online where a row is longer than registers.
// Order     core/row_kernel.hpp's.
#pragma once
#include "core/activation.hpp"
#include "core/row_kernel.hpp"

namespace tk {

// What both directions are given besides tensors.
struct cross_entropy_numbers {
  float rest, share, z_loss;  // rest: 1 - label_smoothing; share: label_smoothing / vocab
  float cap, per_cap;         // softcap and 1 / softcap; 0: no cap
  int vocab, ignores, wide;   // whether a label is ignored; whether labels are of 64 bits
  std::int64_t ignored;
};

// What an ignored row gives is 0, NaN or not.
struct zero_where_0 {
  TK_DEVICE float operator()(float x, float factor) const { return factor == 0.f ? 0.f : x; }
};
struct capped {
  float cap, per_cap;
  TK_DEVICE float operator()(float x) const { return cap * tanh(x * per_cap); }
};
// Its derivative, of what it gave.
struct slope_of_capped {
  float per_cap;
  TK_DEVICE float operator()(float s) const {
    float const t = s * per_cap;
    return 1.f - t * t;
  }
};

// A row's label: its column, and the factor of its loss and gradient: 1, 0 where the row is
// ignored, NaN where the label is no column.
template <class Rows> struct row_labels {
  typename Rows::columns at;
  typename Rows::column factor;
  bool any_ignored = false;

  template <int I>
  TK_DEVICE row_labels(Rows& rows, row_value<I> labels, cross_entropy_numbers const& a) {
    if (a.wide) read<std::int64_t>(rows, labels, a);
    else read<std::int32_t>(rows, labels, a);
  }

 private:
  template <class T, int I>
  TK_DEVICE void read(Rows& rows, row_value<I> labels, cross_entropy_numbers const& a) {
    at = rows.template column_of<T>(labels);
    factor = rows.template value<T>(labels, [&](T label) {
      if (a.ignores && label == a.ignored) {
        any_ignored = true;
        return 0.f;
      }
      return label >= 0 && label < a.vocab ? 1.f : __builtin_nanf("");
    });
  }
};

// What makes a gradient of a row's probabilities, each with weight and label.factor in it: what
// they are multiplied by, what is taken from all, and from that of the label.
template <class Rows> struct row_gradient {
  row_labels<Rows> const& label;
  typename Rows::column scale, share, rest;

  TK_DEVICE row_gradient(row_labels<Rows> const& of, typename Rows::column const& lse_log2,
                         typename Rows::column const& weight, cross_entropy_numbers const& a)
      : label(of) {
    auto const factor = weight * of.factor;
    scale = factor * (1.f + 2.f * a.z_loss * ln_2 * lse_log2);
    share = factor * a.share;
    rest = factor * a.rest;
  }
  // To dx, of scores s and their probabilities at a part of the columns.
  template <bool Capped, int I, class Part, class Scores, class F>
  TK_DEVICE void write(Part const& p, row_output<I> dx, Scores const& s, F probabilities,
                       cross_entropy_numbers const& a) const {
    auto const of_all = [&] { return probabilities(p) * scale - share; };
    auto const of_x = [&](auto&& of_score) __attribute__((always_inline)) {
      if constexpr (Capped)
        return static_cast<decltype(of_score)>(of_score) * map(slope_of_capped{a.per_cap}, p(s));
      else return static_cast<decltype(of_score)>(of_score);
    };
    if (label.any_ignored || p.has(label.at))
      p.write(dx, combine<zero_where_0>(of_x(of_all() - p.one_at(label.at) * rest), label.factor));
    else p.write(dx, of_x(of_all()));
  }
};

// The scores, f(p) at a part of the columns.
template <bool Capped, int I>
TK_DEVICE auto scores_of(row_input<I> x, cross_entropy_numbers const& a) {
  if constexpr (Capped)
    return [=, &a](auto const& p) { return map(capped{a.cap, a.per_cap}, p(x)); };
  else return [=](auto const& p) { return p(x); };
}

template <class T, bool Capped> struct cross_entropy {
  static constexpr int inputs = 1, outputs = 1, vectors = 0, values = 3, held = 1;
  static constexpr row_extras extras{.inputs = 1, .outputs = 0, .vectors = 0, .sums = 0};
  static constexpr row_input<0> x{};
  static constexpr row_output<0> dx{};
  static constexpr row_value<0> labels{};
  static constexpr row_value<1> loss{};
  static constexpr row_value<2> lse{};
  template <int> using input = T;
  template <int> using output = T;

  struct args {
    cross_entropy_numbers of;
    float dloss;
    int wants_dx;  // a flag, but a word
  };
  static int passes(args const& a) { return a.wants_dx ? 2 : 1; }

  template <class Rows> static TK_DEVICE void run(Rows& rows, args const& a) {
    using column = typename Rows::column;
    row_labels<Rows> const label(rows, labels, a.of);
    auto const of_label = rows.element(x, label.at);
    auto const s = rows.keep(scores_of<Capped>(x, a.of));
    auto const as_is = [&](auto const& p) { return p(s); };
    bool const wants_other = a.of.share > 0;
    // What a row's loss is made of; log2 of its sum of exponentials is given back.
    auto const leave = [&](maximum_and_sums<column> const& all) {
      column const lse_log2 = all.max + log2(all.sum), log_sum = lse_log2 * ln_2;
      column target = of_label, of_row = log_sum;
      if constexpr (Capped) target = map(capped{a.of.cap, a.of.per_cap}, target);
      of_row = of_row - a.of.rest * target;
      if (wants_other) of_row = of_row - a.of.share * all.other;
      if (a.of.z_loss > 0) of_row = of_row + a.of.z_loss * square(log_sum);
      rows.put(loss, combine<zero_where_0>(of_row * label.factor, label.factor));
      rows.put(lse, log_sum);
      return lse_log2;
    };
    if constexpr (Rows::lean) {
      leave(rows.max_and_sums(as_is, log2_e, as_is, wants_other));
    } else {
      auto const exps = rows.keep_exp2(as_is, log2_e, as_is, wants_other);
      row_gradient<Rows> gradient(label, leave(exps), a.dloss, a.of);
      if (!a.wants_dx) return;
      gradient.scale = gradient.scale * reciprocal(exps.sum);
      rows.each([&](auto const& p) {
        gradient.template write<Capped>(
            p, dx, s, [&](auto const& q) { return q(exps.each); }, a.of);
      });
    }
  }
};

}  // namespace tk
