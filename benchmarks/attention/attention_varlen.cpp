// SPDX-License-Identifier: MIT
// Suite attention-varlen: the forward of packed sequences, and with options, at 4 h d operations
// for each pair of query and key that see each other. Beside it cuDNN where it takes the case, and
// as "tk plain" what TK makes of the same q, k and v with the causal mask alone: as a batch where
// all sequences have one length, else as one sequence of them all. That is other work, so the rates
// compare.
#include <algorithm>
#include <functional>
#include <numeric>

#include "benchmarks/attention/cudnn.hpp"
#include "benchmarks/attention/options.hpp"
#include "benchmarks/benchmark.hpp"
#include "ops/attention/attention_forward.h"

namespace tk::bench {
namespace {

// Of the same tokens, with the causal mask alone.
forward_problem plain_of(forward_problem const& x) {
  bool const equal =
      std::adjacent_find(x.nq.begin(), x.nq.end(), std::not_equal_to<>()) == x.nq.end();
  auto const lengths =
      equal ? x.nq : std::vector{std::accumulate(x.nq.begin(), x.nq.end(), std::int64_t{0})};
  forward_problem y{lengths, lengths, x.hq, x.hk, x.d, x.scale};
  y.causal = x.causal;
  return y;
}

class attention_varlen_benchmark final : public benchmark {
 public:
  explicit attention_varlen_benchmark(bench_case const& x)
      : packed_(is_packed(x)),
        asked_(problem_of(x)),
        plain_(plain_of(asked_)),
        lengths_(asked_.nq),
        total_(std::accumulate(lengths_.begin(), lengths_.end(), std::int64_t{0})),
        hq_(asked_.hq),
        hk_(asked_.hk),
        d_(asked_.d),
        repeat_(x.repeat),
        type_(parse_dtype(x.get("type", "bf16"))) {
    make_tensors();
  }

  dtype type() const override { return type_; }
  double flops() const override { return flops_of(asked_); }
  double bytes() const override {
    return static_cast<double>(q_.bytes() + k_.bytes() + v_.bytes() + o_.bytes() + lse_.bytes());
  }
  tk_repeat repeat() const override { return repeat_; }
  std::vector<tensor*> outputs() override { return {&o_, &lse_, &peer_lse_}; }

  implementation tk() override { return {"tk", call_of(own_, packed_, lengths_, options_.get())}; }

  peer_list peers() override {
    peer_list list;
    implementation plain{"tk plain", call_of(plain_call_, false, plain_.nq, nullptr)};
    plain.flops = flops_of(plain_);
    plain.compare = [this] { return plain_oracle_.compare(o_, lse_, rows_of_heads(plain_.nq)); };
    plain.repeats = true;
    list.present.push_back(std::move(plain));
    tensor const* const lse = packed_ ? &peer_lse_ : &lse_;
    forward_operands x{&q_, &k_, &v_, &o_, lse, asked_.causal, asked_.scale};
    x.window_left = asked_.window_left;
    x.softcap = asked_.softcap;
    x.alibi = options_.alibi();
    if (packed_) x.lengths = lengths_;
    if (asked_.dropout == 0) add_cudnn(list, x);
    return list;
  }

  // Who wrote lse with the heads innermost is judged by that.
  verdict compare() override {
    std::vector<std::byte> const x = peer_lse_.copy_out();
    bool const untouched = std::all_of(x.begin(), x.end(), [](auto y) { return y == nan_byte; });
    if (untouched)
      return oracle_.compare(o_, lse_, packed_ ? heads_of_all() : rows_of_heads(lengths_));
    return oracle_.compare(o_, peer_lse_, [this](std::int64_t s, std::int64_t h, std::int64_t i) {
      return (start(s) + i) * hq_ + h;
    });
  }

 private:
  static constexpr std::byte nan_byte{0xff};  // of tensor::fill_nan

  struct call {
    DLTensor q{}, k{}, v{}, o{}, lse{};
    std::vector<std::int64_t> queries, keys, sums;  // shapes
    tk_attention_forward_problem problem{};
    tensor workspace;
  };

  double flops_of(forward_problem const& x) const {
    return 4 * x.pairs() * static_cast<double>(hq_ * d_);
  }
  std::int64_t start(std::int64_t sequence) const {
    return std::accumulate(lengths_.begin(), lengths_.begin() + sequence, std::int64_t{0});
  }
  forward_oracle::place_of_lse rows_of_heads(std::vector<std::int64_t> const& lengths) const {
    return [this, n = lengths[0]](std::int64_t b, std::int64_t h, std::int64_t i) {
      return (b * hq_ + h) * n + i;
    };
  }
  forward_oracle::place_of_lse heads_of_all() const {
    return [this](std::int64_t s, std::int64_t h, std::int64_t i) {
      return h * total_ + start(s) + i;
    };
  }

  void make_tensors() {
    q_ = tensor(type_, {total_, hq_, d_}), o_ = tensor(type_, {total_, hq_, d_});
    k_ = tensor(type_, {total_, hk_, d_}), v_ = tensor(type_, {total_, hk_, d_});
    lse_ = tensor(dtype::fp32, {hq_, total_});
    peer_lse_ = tensor(dtype::fp32, {total_, hq_});
    q_.fill_normal(1);
    k_.fill_normal(2);
    v_.fill_normal(3);
  }

  // Of all tokens packed, or of a batch of `lengths`, which are equal.
  std::function<void()> call_of(call& x, bool packed, std::vector<std::int64_t> const& lengths,
                                tk_attention_options const* options) {
    auto const b = static_cast<std::int64_t>(lengths.size());
    auto const shape = [&](std::int64_t h) {
      return packed ? std::vector{total_, h, d_} : std::vector{b, lengths[0], h, d_};
    };
    x.queries = shape(hq_), x.keys = shape(hk_);
    x.sums = packed ? std::vector{hq_, total_} : std::vector{b, hq_, lengths[0]};
    auto const bind = [](DLTensor& to, tensor const& from, std::vector<std::int64_t>& as) {
      to = from.dl();
      to.ndim = static_cast<int>(as.size());
      to.shape = as.data();
      to.strides = nullptr;  // row-major
      return &to;
    };
    x.problem.size = sizeof x.problem;
    x.problem.q = bind(x.q, q_, x.queries);
    x.problem.k = bind(x.k, k_, x.keys);
    x.problem.v = bind(x.v, v_, x.keys);
    x.problem.o = bind(x.o, o_, x.queries);
    x.problem.lse = bind(x.lse, lse_, x.sums);
    x.problem.mask = asked_.causal ? TK_MASK_CAUSAL : TK_MASK_NONE;
    x.problem.scale = asked_.scale;
    x.problem.repeat = repeat_;
    x.problem.options = options;
    x.workspace = make_workspace(TK_OP_ATTENTION_FORWARD, &x.problem);
    return [&x] {
      check(tk_attention_forward(&x.problem, x.workspace.data(),
                                 static_cast<std::size_t>(x.workspace.bytes()), nullptr));
    };
  }

  bool packed_;
  forward_problem asked_, plain_;
  std::vector<std::int64_t> lengths_;  // of sequences
  std::int64_t total_, hq_, hk_, d_;
  tk_repeat repeat_;
  dtype type_;
  tensor q_, k_, v_, o_, lse_, peer_lse_;
  case_options options_{asked_, packed_};
  call own_, plain_call_;
  forward_oracle oracle_{asked_, q_, k_, v_}, plain_oracle_{plain_, q_, k_, v_};
};

suite_entry const entry{
    "attention-varlen",
    {"b", "n", "lens", "h", "hk", "d", "mask", "left", "softcap", "alibi", "dropout", "type"},
    make<attention_varlen_benchmark>};

}  // namespace
}  // namespace tk::bench
