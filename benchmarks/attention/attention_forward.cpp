// SPDX-License-Identifier: MIT
// Suite attention-fwd: o[b, n, hq, d] = softmax(scale q k^T + mask) v and lse[b, hq, n], beside
// cuDNN where there is one.
#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "benchmarks/attention/cudnn.hpp"
#include "benchmarks/attention/oracle.hpp"
#include "benchmarks/benchmark.hpp"
#include "ops/attention/attention_forward.h"

namespace tk::bench {
namespace {

class attention_forward_benchmark final : public benchmark {
 public:
  explicit attention_forward_benchmark(bench_case const& x)
      : b_(x.number("b")),
        nq_(x.number("n")),
        nk_(x.number("nk", nq_)),
        hq_(x.number("h")),
        hk_(x.number("hk", hq_)),
        d_(x.number("d")),
        mask_(parse_mask(x.get("mask", "none"))),
        scale_(1 / std::sqrt(static_cast<float>(d_))) {
    dtype const type = parse_dtype(x.get("type", "bf16"));
    std::string const layout = x.get("layout", "separate");
    if (layout == "packed") {
      make_packed(type);
    } else if (layout == "separate") {
      q_ = tensor(type, {b_, nq_, hq_, d_});
      k_ = tensor(type, {b_, nk_, hk_, d_});
      v_ = tensor(type, {b_, nk_, hk_, d_});
      q_.fill_normal(1);
      k_.fill_normal(2);
      v_.fill_normal(3);
    } else {
      throw std::runtime_error("'" + layout + "' is no layout: separate or packed");
    }
    o_ = tensor(type, {b_, nq_, hq_, d_});
    lse_ = tensor(dtype::fp32, {b_, hq_, nq_});
    bind();
    problem_.repeat = x.repeat;
  }

  dtype type() const override { return o_.type(); }
  double flops() const override {
    auto const nq = static_cast<double>(nq_), nk = static_cast<double>(nk_);
    double const seeing = std::min(nq, nk);  // of the rows, where the mask is causal
    double const pairs = mask_ == TK_MASK_CAUSAL ? seeing * (nk - seeing / 2) : nq * nk;
    return 4 * pairs * static_cast<double>(b_ * hq_ * d_);
  }
  double bytes() const override {
    return static_cast<double>(q_.bytes() + k_.bytes() + v_.bytes() + o_.bytes() + lse_.bytes());
  }
  tk_repeat repeat() const override { return problem_.repeat; }
  std::vector<tensor*> outputs() override { return {&o_, &lse_}; }

  implementation tk() override {
    workspace_ = make_workspace(TK_OP_ATTENTION_FORWARD, &problem_);
    auto const call = [this] {
      check(tk_attention_forward(&problem_, workspace_.data(),
                                 static_cast<std::size_t>(workspace_.bytes()), nullptr));
    };
    return {"tk", call};
  }

  peer_list peers() override {
    peer_list list;
    add_cudnn(list, forward_operands{&q_, &k_, &v_, &o_, &lse_, mask_ == TK_MASK_CAUSAL, scale_});
    return list;
  }

  verdict compare() override {
    return oracle_.compare(o_, lse_, [this](std::int64_t b, std::int64_t h, std::int64_t i) {
      return (b * hq_ + h) * nq_ + i;
    });
  }

 private:
  void make_packed(dtype type) {
    if (nq_ != nk_) throw std::runtime_error("layout=packed needs nk = n");
    std::int64_t const heads = hq_ + 2 * hk_;
    packed_ = tensor(type, {b_, nq_, heads, d_});
    packed_.fill_normal(1);
    std::vector<std::int64_t> const strides{nq_ * heads * d_, heads * d_, d_, 1};
    q_ = packed_.slice(0, {b_, nq_, hq_, d_}, strides);
    k_ = packed_.slice(hq_ * d_, {b_, nk_, hk_, d_}, strides);
    v_ = packed_.slice((hq_ + hk_) * d_, {b_, nk_, hk_, d_}, strides);
  }

  void bind() {
    q_dl_ = q_.dl();
    k_dl_ = k_.dl();
    v_dl_ = v_.dl();
    o_dl_ = o_.dl();
    lse_dl_ = lse_.dl();
    problem_.size = sizeof problem_;
    problem_.q = &q_dl_;
    problem_.k = &k_dl_;
    problem_.v = &v_dl_;
    problem_.o = &o_dl_;
    problem_.lse = &lse_dl_;
    problem_.mask = mask_;
    problem_.scale = scale_;
  }

  forward_problem problem_of_oracle() const {
    auto const b = static_cast<std::size_t>(b_);
    forward_problem x{std::vector(b, nq_), std::vector(b, nk_), hq_, hk_, d_, scale_};
    x.causal = mask_ == TK_MASK_CAUSAL;
    return x;
  }

  std::int64_t b_, nq_, nk_, hq_, hk_, d_;
  tk_mask mask_;
  float scale_;
  tensor packed_, q_, k_, v_, o_, lse_, workspace_;
  DLTensor q_dl_{}, k_dl_{}, v_dl_{}, o_dl_{}, lse_dl_{};
  tk_attention_forward_problem problem_{};
  forward_oracle oracle_{problem_of_oracle(), q_, k_, v_};
};

suite_entry const entry{"attention-fwd",
                        {"b", "n", "h", "d", "nk", "hk", "mask", "layout", "type"},
                        make<attention_forward_benchmark>};

}  // namespace
}  // namespace tk::bench
