// SPDX-License-Identifier: MIT
// The oracle of tk_attention_backward with options: o and lse for its cases, exactly and rounded,
// and its results held against backward_options_gradients.hpp.
#pragma once
#include <mutex>

#include "tests/ops/attention/backward_options.hpp"
#include "tests/ops/attention/backward_options_gradients.hpp"

namespace tk::test {

inline option_head read_option_head(backward_option_operands const& x, std::int64_t s,
                                    std::int64_t head) {
  auto const& y = x.of;
  auto const of = span_of(y, s);
  std::int64_t const key_head = head / (y.hq / y.hk);
  option_head h{y, of, s, head, {}, {}, {}, {}, terms_of(x, s, head), sink_of(x, head), {}, {}};
  auto const read = [&](std::vector<double>& to, tensor const& t, std::int64_t n, std::int64_t d,
                        auto const& at) {
    to.resize(static_cast<std::size_t>(n * d));
    for (std::int64_t i = 0; i < n; ++i) read_row(t.type, t.image_row(at(i)), d, to.data() + i * d);
  };
  auto const query = [&](std::int64_t i) { return x.q_row(s, i, head); };
  auto const key = [&](std::int64_t j) { return x.k_row(s, j, key_head); };
  read(h.q, x.q, of.nq, y.d, query);
  read(h.dout, x.dout, of.nq, y.dv, query);
  read(h.o, x.o, of.nq, y.dv, query);
  read(h.k, x.k, of.nk, y.d, key);
  read(h.v, x.v, of.nk, y.dv, key);
  h.lse.resize(static_cast<std::size_t>(of.nq));
  auto const* const lse = x.lse.image_row(y.packed() ? head : s * y.hq + head);
  read_row(dtype::fp32, lse + (y.packed() ? 4 * of.q : 0), of.nq, h.lse.data());
  return h;
}

inline void set_forward(backward_option_operands& x) {
  auto const& y = x.of;
  parallel_for(y.b * y.hq, [&](std::int64_t task) {
    std::int64_t const s = task / y.hq, head = task % y.hq;
    auto const h = read_option_head(x, s, head);
    std::vector<double> o(static_cast<std::size_t>(y.dv));
    for (std::int64_t i = 0; i < h.of.nq; ++i) {
      double const lse = forward_row(h, i, o.data());
      for (std::int64_t c = 0; c < y.dv; ++c) set(x.o, x.q_row(s, i, head), c, o[c]);
      if (y.packed()) set(x.lse, head, h.of.q + i, lse);
      else set(x.lse, s * y.hq + head, i, lse);
    }
  });
}

struct option_gradient_meters {
  error_meter dq, dk, dv;
  explicit option_gradient_meters(dtype type) : dq(type), dk(type), dv(type) {}
};

inline verdict compare(backward_option_operands const& x) {
  auto const& y = x.of;
  std::int64_t const group = y.hk ? y.hq / y.hk : 1;
  option_gradient_meters all(y.type);
  auto const columns = x.dbias.in ? x.dbias.cols() : 0;
  std::vector<plain_sum> dbias(static_cast<std::size_t>(x.dbias.in ? x.dbias.rows() * columns : 0)),
      dsinks(static_cast<std::size_t>(y.hq));
  std::mutex merging;
  std::int64_t elements[3] = {};
  auto const task = [&](std::int64_t s, std::int64_t key_head) {
    std::vector<option_head> heads;
    for (std::int64_t g = 0; g < group && y.hq > 0; ++g)
      heads.push_back(read_option_head(x, s, key_head * group + g));
    auto const of = span_of(y, s);
    if (heads.empty()) return;
    option_gradients const gradients(heads);
    option_gradient_meters mine(y.type);
    auto const meter = [](error_meter& to, tensor const& t, std::int64_t row) {
      return [&to, &t, row](std::int64_t, std::int64_t c, double exact, double slack, double unit,
                            double rest) {
        double const got = decode(t.type, t.result_row(row) + c * bytes_of(t.type));
        to.add(row, c, got, exact, slack, unit, rest);
      };
    };
    for (std::int64_t g = 0; g < group; ++g)
      for (std::int64_t i = 0; i < of.nq; ++i)
        gradients.dq[g][i].put_all(y.type, i, y.scale,
                                   meter(mine.dq, x.dq, x.q_row(s, i, key_head * group + g)));
    for (std::int64_t j = 0; j < of.nk; ++j) {
      gradients.dk[j].put_all(y.type, j, y.scale, meter(mine.dk, x.dk, x.k_row(s, j, key_head)));
      gradients.dv[j].put_all(y.type, j, 1, meter(mine.dv, x.dv, x.k_row(s, j, key_head)));
    }
    std::scoped_lock const lock(merging);
    all.dq.merge(mine.dq), all.dk.merge(mine.dk), all.dv.merge(mine.dv);
    elements[0] += group * of.nq * y.d, elements[1] += of.nk * y.d, elements[2] += of.nk * y.dv;
    for (std::int64_t g = 0; g < group; ++g) {
      std::int64_t const head = key_head * group + g;
      dsinks[head].add(gradients.dsink[g]);
      if (!x.dbias.in) continue;
      std::int64_t const b = y.one_bias_batch ? 0 : s, h = y.one_bias_head ? 0 : head;
      for (std::int64_t i = 0; i < of.nq; ++i)
        for (std::int64_t j = 0; j < of.nk; ++j)
          dbias[((b * x.dbias.shape[1] + h) * x.dbias.shape[2] + i) * columns + j].add(
              gradients.dbias[g][i * of.nk + j]);
    }
  };
  parallel_for(y.b * y.hk, [&](std::int64_t n) { task(n / y.hk, n % y.hk); });

  verdict v;
  // As in backward_oracle.hpp; roundings of a row are drawn together, as in options_oracle.hpp.
  auto const judge = [&](char const* what, error_meter const& m, std::int64_t wanted,
                         std::int64_t draws) {
    double const chance = 6 / std::sqrt(static_cast<double>(std::max<std::int64_t>(1, draws)));
    auto const one = m.judge(what, 1.1 + chance, 256);
    if (v.ok()) v.wrong = one.wrong;
    if (v.ok() && one.compared != wanted)
      v.wrong = "compared " + std::to_string(one.compared) + " elements of " + what + ", not " +
                std::to_string(wanted);
    v.compared += one.compared;
  };
  judge("dq", all.dq, elements[0], elements[0] / y.d);
  judge("dk", all.dk, elements[1], elements[1] / y.d);
  judge("dv", all.dv, elements[2], elements[2] / y.dv);
  auto const judge_sums = [&](char const* what, tensor const& t,
                              std::vector<plain_sum> const& sums) {
    if (!t.in) return;
    error_meter m(t.type);
    for (std::int64_t r = 0; r < t.rows(); ++r)
      for (std::int64_t c = 0; c < t.cols(); ++c) {
        auto const& sum = sums[static_cast<std::size_t>(r * t.cols() + c)];
        double const got = decode(t.type, t.result_row(r) + c * bytes_of(t.type));
        double const unit = format_of(t.type).unit_roundoff * std::fabs(sum.value);
        m.add(r, c, got, sum.value, sum.slack() + unit, unit, sum.slack());
      }
    judge(what, m, t.rows() * t.cols(), t.rows() * t.cols());
  };
  judge_sums("dbias", x.dbias, dbias);
  judge_sums("dsinks", x.dsinks, dsinks);
  return v;
}

// The outputs' elements that the op must write: packed, those of each sequence.
inline std::vector<tensor> written_by(backward_option_operands const& x) {
  auto const& y = x.of;
  std::vector<tensor> all;
  for (std::int64_t s = 0; s < (y.packed() ? y.b : 1); ++s)
    for (auto const* t : {&x.dq, &x.dk, &x.dv}) {
      all.push_back(*t);
      if (!y.packed()) continue;
      auto const of = span_of(y, s);
      all.back().origin += (t == &x.dq ? of.q : of.k) * t->strides[0];
      all.back().shape[0] = t == &x.dq ? of.nq : of.nk;
    }
  for (auto const* t : {&x.dbias, &x.dsinks})
    if (t->in) all.push_back(*t);
  return all;
}

inline verdict run(backward_option_case const& x) {
  backward_option_operands operands(x);
  verdict v;
  v.wrong = launch_twice(operands);
  if (!v.ok()) return v;
  v = compare(operands);
  if (v.ok()) v.wrong = check_untouched(operands.memories, written_by(operands));
  return v;
}

}  // namespace tk::test
