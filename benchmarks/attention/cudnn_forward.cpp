// SPDX-License-Identifier: MIT
// cuDNN's forward. The graph is the pattern that its fused engines recognise, from 9.1 on:
//   s = q k^T; s = s scale; [s = c tanh(s / c)]; [s = s + alibi (column - row)]
//   [packed: s = row < nq and column < nk ? s : -inf]
//   [s = row >= column ? s : -inf]; [s = column + left + 1 > row ? s : -inf]
//   e = exp(s - max s); lse = max s + log sum e; p = e / sum e; o = p v
// with q [b, hq, nq, d], k^T [b, hk, d, nk], v [b, hk, nk, d], o [b, hq, nq, d] by strides. log and
// add, which make lse, belong to it even when nobody reads them. Of packed sequences b is their
// number, nq and nk are the longest, and tables say where each begins and how long it is.
#include <algorithm>
#include <deque>
#include <limits>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "backends/runtime.hpp"
#include "benchmarks/attention/cudnn.hpp"
#include "benchmarks/attention/cudnn_graph.hpp"

namespace tk::bench {
namespace {

using namespace cudnn;

class forward_plan {
 public:
  explicit forward_plan(forward_operands const& x) : type_(type_of(x.q->type())) {
    bool const packed = !x.lengths.empty();
    auto const &q = x.q->shape(), &k = x.k->shape();
    auto const longest = packed ? *std::max_element(x.lengths.begin(), x.lengths.end()) : 0;
    b_ = packed ? static_cast<std::int64_t>(x.lengths.size()) : q[0];
    nq_ = packed ? longest : q[1];
    nk_ = packed ? longest : k[1];
    hq_ = q[q.size() - 2];
    if (x.causal && nq_ != nk_) throw std::runtime_error("its mask begins at the first key");
    if (x.alibi && !x.causal)
      throw std::runtime_error("its ALiBi has no distance, but a difference");
    if (packed) lengths_ = table({x.lengths.begin(), x.lengths.end()});
    build(x);
    graph_.compile();
  }
  void run() const { graph_.run(); }

 private:
  // At which element each sequence begins, in rows of so many; none where nothing is packed.
  value const* starts(forward_operands const& x, std::int64_t row_elements) {
    if (x.lengths.empty()) return nullptr;
    std::vector<std::int32_t> at{0};
    for (std::int64_t const n : x.lengths) {
      std::int64_t const next = at.back() + n * row_elements;
      if (next > std::numeric_limits<std::int32_t>::max())
        throw std::runtime_error("its tables have 32 bits");
      at.push_back(static_cast<std::int32_t>(next));
    }
    return &values_.emplace_back(table(at));
  }
  value table(std::vector<std::int32_t> const& numbers) {
    tensor const& x = tables_.emplace_back(numbers);
    return graph_.at(x.data(), data_int32, {x.size(), 1, 1, 1}, {1, 1, 1, 1});
  }

  // [b, n, h, d] or [total, h, d] as [b, h, n, d], or as [b, h, d, n].
  value operand(forward_operands const& all, tensor const& x, std::int64_t n, bool transposed) {
    std::size_t const row = x.shape().size() - 3;
    std::int64_t const h = x.shape()[row + 1], d = x.shape()[row + 2];
    std::int64_t const row_stride = x.strides()[row], head_stride = x.strides()[row + 1];
    sizes shape{b_, h, n, d}, strides{n * row_stride, head_stride, row_stride, 1};
    if (transposed) {
      std::swap(shape[2], shape[3]);
      std::swap(strides[2], strides[3]);
    }
    return graph_.at(x.data(), type_, shape, strides, starts(all, row_stride));
  }

  void build(forward_operands const& x) {
    value const q = operand(x, *x.q, nq_, false), k = operand(x, *x.k, nk_, true);
    value const v = operand(x, *x.v, nk_, false), o = operand(x, *x.o, nq_, false);
    value const* const lengths = lengths_ ? &*lengths_ : nullptr;
    value const raw = graph_.inside(data_float, {b_, hq_, nq_, nk_});
    graph_.matmul(raw, q, k, {lengths, lengths, nullptr});
    value const p = softmax(masked(changed(raw, x), x), x);
    graph_.matmul(o, p, v, {lengths, nullptr, lengths});
  }

  value changed(value const& raw, forward_operands const& x) {
    value s = graph_.apply(mode_mul, raw, graph_.number(x.scale));
    if (x.softcap > 0) {
      value const cap = graph_.number(x.softcap);
      s = graph_.apply(mode_mul, graph_.apply(mode_tanh, graph_.apply(mode_div, s, cap)), cap);
    }
    if (x.alibi) {
      value const row = graph_.index(s, 2), column = graph_.index(s, 3);
      value const difference = graph_.inside(data_int32, s.shape);
      graph_.pointwise(mode_sub, difference, column, &row);
      value const slopes = graph_.at(x.alibi->data(), data_float, {1, hq_, 1, 1}, {hq_, 1, 1, 1});
      s = graph_.apply(mode_add, s, graph_.apply(mode_mul, difference, slopes));
    }
    return s;
  }

  value masked(value s, forward_operands const& x) {
    if (lengths_) s = graph_.keep_first(*lengths_, *lengths_, s);
    if (x.causal) s = graph_.keep_causal(s);
    if (x.window_left < 0) return s;
    value const row = graph_.index(s, 2), column = graph_.index(s, 3);
    value const left = graph_.number(static_cast<float>(x.window_left + 1));
    value const reach = graph_.apply(mode_add, column, left);
    return graph_.keep(graph_.compare(mode_compare_gt, reach, row), s);
  }

  value softmax(value const& s, forward_operands const& x) {
    sizes const rows{b_, hq_, nq_, 1};
    value const top = graph_.inside(data_float, rows), sum = graph_.inside(data_float, rows);
    graph_.reduce(reduce_max, top, s);
    value const e = graph_.apply(mode_exp, graph_.apply(mode_sub, s, top));
    graph_.reduce(reduce_add, sum, e);
    value const log = graph_.apply(mode_log, sum);
    sizes const strides = x.lengths.empty() ? packed_strides(rows) : sizes{nq_ * hq_, 1, hq_, 1};
    value const lse = graph_.at(x.lse->data(), data_float, rows, strides, starts(x, hq_));
    graph_.pointwise(mode_add, lse, top, &log);
    value const p = graph_.inside(type_, s.shape);
    graph_.pointwise(mode_div, p, e, &sum);
    return p;
  }

  data_type type_;
  std::int64_t b_, nq_, nk_, hq_;
  graph graph_;
  std::deque<tensor> tables_;
  std::deque<value> values_;
  std::optional<value> lengths_;
};

std::string version_text() {
  try {
    return be::rt::dl_device_type == kDLCUDA ? std::to_string(version()) : "";
  } catch (std::runtime_error const&) { return ""; }
}
peer_entry const entry{"cudnn", version_text};

}  // namespace

void add_cudnn(peer_list& peers, forward_operands const& x) {
  if (be::rt::dl_device_type != kDLCUDA) return;
  try {
    auto const made = std::make_shared<forward_plan>(x);
    peers.present.push_back({"cudnn", [made] { made->run(); }});
  } catch (std::runtime_error const& reason) { peers.absent.push_back({"cudnn", reason.what()}); }
}

}  // namespace tk::bench
