// SPDX-License-Identifier: MIT
// cuDNN's backward, from 9.6 on. The graph is the pattern that its fused engines recognise:
//   delta = sum over d of dout o, stored; s = q k^T; s = s scale
//   [s = row < nq and column < nk ? s : -inf]; s = s - lse; [s = row >= column ? s : -inf]
//   p = exp(s); dv = p^T dout
//   ds = (dout v^T - delta) p scale; dk = ds^T q; dq = ds k
// with q, o, dout, dq [b, hq, nq, d], k, v, dk, dv [b, hk, nk, d] by strides. Where heads share
// keys, dk and dv are of all query heads first, and then added up. dq is added up in fp32 in memory
// and rounded from there; stored at once instead, it makes the engines keep ds in their workspace,
// and repeat bit for bit. nq and nk, which the shapes say, must be said again up to 9.15 where nk
// is no multiple of 128 (so does cudnn-frontend).
#include <array>
#include <memory>
#include <stdexcept>
#include <utility>

#include "backends/runtime.hpp"
#include "benchmarks/attention/cudnn.hpp"
#include "benchmarks/attention/cudnn_graph.hpp"

namespace tk::bench {
namespace {

using namespace cudnn;

enum class order { any, fixed };  // of dq's sums

class backward_plan {
 public:
  backward_plan(backward_operands const& x, order sums) : type_(type_of(x.q->type())) {
    if (version() < 90600) throw std::runtime_error("libcudnn is older than 9.6");
    auto const &q = x.q->shape(), &k = x.k->shape();
    scores_ = {q[0], q[2], q[1], k[1]};
    if (x.causal && q[1] != k[1]) throw std::runtime_error("its mask begins at the first key");
    if (version() <= 91500 && k[1] % 128 != 0) say_lengths(q[1], k[1]);
    build(x, sums);
    graph_.compile();
  }
  void run() const { graph_.run(); }

 private:
  // [b, n, h, d] as [b, h, n, d], or as [b, h, d, n].
  value operand(tensor const& x, bool transposed = false) {
    auto const &n = x.shape(), &s = x.strides();
    sizes shape{n[0], n[2], n[1], n[3]}, strides{s[0], s[2], s[1], s[3]};
    if (transposed) {
      std::swap(shape[2], shape[3]);
      std::swap(strides[2], strides[3]);
    }
    return graph_.at(x.data(), type_, shape, strides);
  }

  // As if batches had lengths of their own.
  void say_lengths(std::int64_t nq, std::int64_t nk) {
    auto const table = [this](tensor& numbers, std::int64_t n) {
      auto const b = static_cast<std::size_t>(scores_[0]);
      numbers = tensor(std::vector(b, static_cast<std::int32_t>(n)));
      return graph_.at(numbers.data(), data_int32, {scores_[0], 1, 1, 1}, {1, 1, 1, 1});
    };
    lengths_ = {table(tables_[0], nq), table(tables_[1], nk)};
    rows_ = &lengths_[0], columns_ = &lengths_[1];
  }

  void build(backward_operands const& x, order sums) {
    value const q = operand(*x.q), dout = operand(*x.dout);
    value const k_transposed = operand(*x.k, true), v_transposed = operand(*x.v, true);
    value const delta = sums_of_rows(dout, operand(*x.o));
    value const scale = graph_.number(x.scale);
    value const p = weights(q, k_transposed, scale, x);
    store_by_keys(operand(*x.dv), graph_.reshaped(type_, p), dout);
    value const dp = graph_.inside(data_float, scores_);
    graph_.matmul(dp, dout, v_transposed, {rows_, columns_, nullptr});
    value const ds =
        graph_.apply(mode_mul, graph_.apply(mode_mul, graph_.apply(mode_sub, dp, delta), p), scale);
    store_by_keys(operand(*x.dk), graph_.reshaped(type_, ds), q);
    value const k = graph_.reshaped(type_, k_transposed), dq = operand(*x.dq);
    if (sums == order::fixed) {
      graph_.matmul(dq, ds, k, {rows_, nullptr, columns_});
    } else {
      value const sum = graph_.scratch(dq.shape);
      graph_.matmul(sum, ds, k, {rows_, nullptr, columns_});
      graph_.pointwise(mode_identity, dq, sum);
    }
  }

  value sums_of_rows(value const& dout, value const& o) {
    sizes const rows{scores_[0], scores_[1], scores_[2], 1};
    value const sum = graph_.inside(data_float, rows), delta = graph_.scratch(rows);
    graph_.reduce(reduce_add, sum, graph_.apply(mode_mul, dout, o));
    value const one = graph_.number(1);  // of dropout
    graph_.pointwise(mode_mul, delta, sum, &one);
    return delta;
  }

  value weights(value const& q, value const& k_transposed, value const& scale,
                backward_operands const& x) {
    sizes const rows{scores_[0], scores_[1], scores_[2], 1};
    value const raw = graph_.inside(data_float, scores_);
    graph_.matmul(raw, q, k_transposed, {rows_, columns_, nullptr});
    value const lse = graph_.at(x.lse->data(), data_float, rows, packed_strides(rows));
    value s = graph_.apply(mode_mul, raw, scale);
    if (rows_) s = graph_.keep_first(*rows_, *columns_, s);
    s = graph_.apply(mode_sub, s, lse);
    if (x.causal) s = graph_.keep_causal(s);
    return graph_.apply(mode_exp, s);
  }

  // to = x y, in which x and y are of query heads and `to` of key heads.
  void store_by_keys(value const& to, value const& x, value const& y) {
    extents const of{columns_, nullptr, rows_};
    if (to.shape[1] == x.shape[1]) return graph_.matmul(to, x, y, of);
    value const every = graph_.inside(type_, {x.shape[0], x.shape[1], x.shape[2], to.shape[3]});
    graph_.matmul(every, x, y, of);
    graph_.reduce(reduce_add, to, every);
  }

  data_type type_;
  sizes scores_{};
  std::array<tensor, 2> tables_;
  std::array<value, 2> lengths_{};
  value const *rows_ = nullptr, *columns_ = nullptr;  // of queries and keys, where they are said
  graph graph_;
};

}  // namespace

void add_cudnn(peer_list& peers, backward_operands const& x) {
  if (be::rt::dl_device_type != kDLCUDA) return;
  for (auto const& [name, sums] :
       {std::pair{"cudnn", order::any}, std::pair{"cudnn deterministic", order::fixed}}) {
    try {
      auto const made = std::make_shared<backward_plan>(x, sums);
      implementation peer{name, [made] { made->run(); }};
      peer.repeats = sums == order::fixed;
      peers.present.push_back(std::move(peer));
    } catch (std::runtime_error const& reason) { peers.absent.push_back({name, reason.what()}); }
  }
}

}  // namespace tk::bench
