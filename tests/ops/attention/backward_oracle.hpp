// SPDX-License-Identifier: MIT
// The oracle of tk_attention_backward: o and lse for its cases, exactly and rounded, and its
// results held against the gradients of backward_gradients.hpp.
#pragma once
#include <cmath>
#include <mutex>

#include "backends/runtime.hpp"
#include "tests/ops/attention/backward.hpp"
#include "tests/ops/attention/backward_gradients.hpp"

namespace tk::test {

// ---- the operands of a case
// Rows of a [b, n, h, .] tensor, as its rows() counts them.
inline std::int64_t row_of_head(tensor const& x, std::int64_t batch, std::int64_t head,
                                std::int64_t i) {
  return (batch * x.shape[1] + i) * x.shape[2] + head;
}

inline gradient_side read_side(tensor const& left, tensor const& right, std::int64_t batch,
                               std::int64_t head) {
  gradient_side x(left.shape[1], left.shape[3], right.shape[3]);
  for (std::int64_t i = 0; i < x.n; ++i) {
    auto const at = row_of_head(left, batch, head, i);
    read_row(left.type, left.image_row(at), x.d, x.left.data() + i * x.d);
    read_row(right.type, right.image_row(at), x.dv, x.right.data() + i * x.dv);
  }
  x.pack();
  return x;
}

inline gradient_head read_head(attention_backward_operands const& x, std::int64_t batch,
                               std::int64_t head) {
  attention_case const& y = x.of;
  gradient_head h{read_side(x.q, x.dout, batch, head), {}};
  h.rows.lse.resize(y.nq), h.rows.delta.resize(y.nq), h.rows.o_norm.resize(y.nq);
  if (y.nq > 0)
    read_row(dtype::fp32, x.lse.image_row(batch * y.hq + head), y.nq, h.rows.lse.data());
  std::vector<double> o(y.dv);
  for (std::int64_t i = 0; i < y.nq; ++i) {
    read_row(y.type, x.o.image_row(row_of_head(x.o, batch, head, i)), y.dv, o.data());
    double norm = 0;
    for (std::int64_t c = 0; c < y.dv; ++c) {
      h.rows.delta[i] += o[c] * h.q.right[i * y.dv + c];
      norm += o[c] * o[c];
    }
    h.rows.o_norm[i] = std::sqrt(norm);
  }
  return h;
}

// lse and o of one row, exactly; `weights` has room for the scores of a row.
inline double exact_row(attention_case const& y, double const* q, gradient_side const& k,
                        std::int64_t seen, std::vector<double>& weights, double* o) {
  double top = -HUGE_VAL, sum = 0;
  for (std::int64_t j = 0; j < seen; ++j) {
    double s = 0;
    for (std::int64_t c = 0; c < y.d; ++c) s += q[c] * k.left[j * y.d + c];
    weights[j] = scale_of(y) * s;
    top = std::max(top, weights[j]);
  }
  std::fill_n(o, y.dv, 0.0);
  for (std::int64_t j = 0; j < seen; ++j) {
    double const weight = std::exp(weights[j] - top);
    sum += weight;
    for (std::int64_t c = 0; c < y.dv; ++c) o[c] += weight * k.right[j * y.dv + c];
  }
  for (std::int64_t c = 0; c < y.dv && seen > 0; ++c) o[c] /= sum;
  return seen > 0 ? top + std::log(sum) : -HUGE_VAL;
}

// Of cases so large that a processor would take minutes, what the library's forward gives.
inline void set_forward_by_library(attention_backward_operands& x) {
  for (auto* t : {&x.q, &x.k, &x.v}) t->in->upload();
  DLTensor const q = x.q.dl(), k = x.k.dl(), v = x.v.dl(), o = x.o.dl(), lse = x.lse.dl();
  tk_attention_forward_problem problem{};
  problem.size = sizeof problem;
  problem.q = &q;
  problem.k = &k;
  problem.v = &v;
  problem.o = &o;
  problem.lse = &lse;
  problem.mask = x.of.mask;
  problem.scale = scale_of(x.of);
  std::size_t bytes = 0;
  if (tk_workspace(TK_OP_ATTENTION_FORWARD, &problem, &bytes) != TK_OK)
    throw std::runtime_error(tk_last_error());
  memory workspace(static_cast<std::int64_t>(bytes), 16, role::output, 1);
  std::memset(workspace.image(), 0, bytes);
  workspace.upload();
  if (tk_attention_forward(&problem, workspace.device(), bytes, nullptr) != TK_OK)
    throw std::runtime_error(tk_last_error());
  be::rt::synchronize();
  for (auto* t : {&x.o, &x.lse}) {
    t->in->download();
    for (std::int64_t r = 0; r < t->rows(); ++r)
      std::memcpy(t->image_row(r), t->result_row(r), t->cols() * bytes_of(t->type));
  }
}

inline void set_forward(attention_backward_operands& x) {
  attention_case const& y = x.of;
  if (y.sampled_rows) return set_forward_by_library(x);
  std::int64_t const group = y.hk ? y.hq / y.hk : 1;
  for (std::int64_t at = 0; at < y.b * y.hk; ++at) {
    std::int64_t const batch = at / y.hk, key_head = at % y.hk;
    auto const keys = read_side(x.k, x.v, batch, key_head);
    parallel_for(group * y.nq, [&](std::int64_t task) {
      std::int64_t const head = key_head * group + task / y.nq, i = task % y.nq;
      std::vector<double> q(y.d), weights(y.nk), o(y.dv);
      std::int64_t const row = row_of_head(x.q, batch, head, i);
      read_row(y.type, x.q.image_row(row), y.d, q.data());
      double const lse = exact_row(y, q.data(), keys, keys_seen(y, i), weights, o.data());
      for (std::int64_t c = 0; c < y.dv; ++c) set(x.o, row, c, o[c]);
      set(x.lse, batch * y.hq + head, i, lse);
    });
  }
}

// ---- judging
inline std::vector<std::int64_t> gradient_rows_to_check(std::int64_t n, std::int64_t sampled) {
  std::int64_t const count = sampled ? std::min(sampled, n) : n;
  std::vector<std::int64_t> rows(count);
  for (std::int64_t i = 0; i < count; ++i)
    rows[i] = i == count - 1 ? n - 1 : (n * i + random_below(n, 5, i)) / count;
  return rows;
}

struct gradient_meters {
  explicit gradient_meters(dtype type) : dq(type), dk(type), dv(type) {}
  error_meter dq, dk, dv;
  void merge(gradient_meters const& other) {
    dq.merge(other.dq), dk.merge(other.dk), dv.merge(other.dv);
  }
};

// One key head of one batch, and the query heads that read it.
inline void compare_group(attention_backward_operands const& x, std::int64_t batch,
                          std::int64_t key_head, bool alone, gradient_meters& into) {
  attention_case const& y = x.of;
  std::int64_t const group = y.hq / y.hk, step = gradient_rows_at_once;
  auto const keys = read_side(x.k, x.v, batch, key_head);
  std::vector<gradient_head> heads;
  for (std::int64_t g = 0; g < group; ++g)
    heads.push_back(read_head(x, batch, key_head * group + g));
  auto const rows = gradient_rows_to_check(y.nq, y.sampled_rows);
  auto const columns = gradient_rows_to_check(y.nk, y.sampled_rows);
  auto const blocks_of = [&](auto const& list) {
    return (static_cast<std::int64_t>(list.size()) + step - 1) / step;
  };
  auto const part = [&](auto const& list, std::int64_t block) {
    auto const end = std::min<std::int64_t>(list.size(), (block + 1) * step);
    return std::vector<std::int64_t>(list.begin() + block * step, list.begin() + end);
  };
  auto const meter = [](error_meter& to, tensor const& t, std::int64_t b, std::int64_t h) {
    return [&to, &t, b, h](std::int64_t i, std::int64_t c, double exact, double slack, double unit,
                           double rest) {
      std::int64_t const row = row_of_head(t, b, h, i);
      double const got = decode(t.type, t.result_row(row) + c * bytes_of(t.type));
      to.add(row, c, got, exact, slack, unit, rest);
    };
  };
  std::int64_t const of_queries = group * blocks_of(rows), all = of_queries + blocks_of(columns);
  std::mutex merging;
  auto const task = [&](std::int64_t n) {
    gradient_meters mine(y.type);
    if (n < of_queries) {
      std::int64_t const g = n / blocks_of(rows), head = key_head * group + g;
      gradient_of_queries(y, heads[g].q, heads[g].rows, keys, part(rows, n % blocks_of(rows)),
                          meter(mine.dq, x.dq, batch, head));
    } else {
      gradient_of_keys(y, heads, keys, part(columns, n - of_queries),
                       meter(mine.dk, x.dk, batch, key_head),
                       meter(mine.dv, x.dv, batch, key_head));
    }
    std::scoped_lock const lock(merging);
    into.merge(mine);
  };
  if (alone) parallel_for(all, task);
  else
    for (std::int64_t n = 0; n < all; ++n) task(n);
}

inline verdict compare(attention_backward_operands const& x) {
  attention_case const& y = x.of;
  gradient_meters total(y.type);
  std::int64_t const groups = y.b * y.hk;
  bool const alone = groups < processors();
  std::mutex merging;
  auto const task = [&](std::int64_t at) {
    gradient_meters mine(y.type);
    compare_group(x, at / y.hk, at % y.hk, alone, mine);
    std::scoped_lock const lock(merging);
    total.merge(mine);
  };
  if (!alone) parallel_for(groups, task);
  else
    for (std::int64_t at = 0; at < groups; ++at) task(at);

  verdict v;
  auto const rows = static_cast<std::int64_t>(gradient_rows_to_check(y.nq, y.sampled_rows).size());
  auto const keys = static_cast<std::int64_t>(gradient_rows_to_check(y.nk, y.sampled_rows).size());
  auto const judge = [&](char const* what, error_meter const& m, std::int64_t elements) {
    double const chance = 6 / std::sqrt(static_cast<double>(std::max<std::int64_t>(1, elements)));
    auto const one = m.judge(what, 1.1 + chance, 256);
    if (v.ok()) v.wrong = one.wrong;
    if (v.ok() && one.compared != elements)
      v.wrong = "compared " + std::to_string(one.compared) + " elements of " + what + ", not " +
                std::to_string(elements);
    v.compared += one.compared;
    v.share = std::max(v.share, one.share);
  };
  judge("dq", total.dq, y.b * y.hq * rows * y.d);
  judge("dk", total.dk, groups * keys * y.d);
  judge("dv", total.dv, groups * keys * y.dv);
  return v;
}

inline verdict run(attention_backward_case const& x) {
  attention_backward_operands operands(x);
  verdict v;
  v.wrong = launch_twice(operands);
  if (!v.ok()) return v;
  v = compare(operands);
  if (!v.ok()) return v;
  v.wrong = check_untouched(operands.memories, {operands.dq, operands.dk, operands.dv});
  return v;
}

}  // namespace tk::test
