// SPDX-License-Identifier: MIT
// Suite attention-bwd: dq, dk, dv of o = softmax(scale q k^T + mask) v, from the o and lse that
// tk_attention_forward gives for the case's q, k, v, beside cuDNN where there is one. 2.5 times the
// forward's operations: five products for its two. The oracle computes some rows of dq and some of
// dk and dv (all, if that is cheap) in fp64. A right output is rounded once, and p and ds once
// before their products, each to the floor: that makes sqrt 2 floors, 2 with a margin. Of the three
// outputs the worst counts.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "benchmarks/attention/cudnn.hpp"
#include "benchmarks/attention/oracle.hpp"
#include "benchmarks/benchmark.hpp"
#include "ops/attention/attention_backward.h"

namespace tk::bench {
namespace {

constexpr std::int64_t whole_products = std::int64_t{1} << 27;  // of the oracle, about a second
constexpr std::int64_t sampled_rows = 48;

using row = std::vector<double>;
double dot(row const& x, row const& y) {
  std::array<double, 8> sum{};  // d is a multiple of 8
  for (std::size_t l = 0; l < x.size(); l += 8)
    for (std::size_t u = 0; u < 8; ++u) sum[u] += x[l + u] * y[l + u];
  double total = 0;
  for (double z : sum) total += z;
  return total;
}
void add(row& to, double factor, row const& x) {
  for (std::size_t l = 0; l < x.size(); ++l) to[l] += factor * x[l];
}

class attention_backward_benchmark final : public benchmark {
 public:
  explicit attention_backward_benchmark(bench_case const& x)
      : b_(x.number("b")),
        nq_(x.number("n")),
        nk_(x.number("nk", nq_)),
        hq_(x.number("h")),
        hk_(x.number("hk", hq_)),
        d_(x.number("d")),
        mask_(parse_mask(x.get("mask", "none"))),
        scale_(1 / std::sqrt(static_cast<float>(d_))) {
    dtype const type = parse_dtype(x.get("type", "bf16"));
    std::vector<std::int64_t> const queries{b_, nq_, hq_, d_}, keys{b_, nk_, hk_, d_};
    q_ = tensor(type, queries), o_ = tensor(type, queries), dout_ = tensor(type, queries);
    k_ = tensor(type, keys), v_ = tensor(type, keys);
    dq_ = tensor(type, queries), dk_ = tensor(type, keys), dv_ = tensor(type, keys);
    lse_ = tensor(dtype::fp32, {b_, hq_, nq_});
    q_.fill_normal(1);
    k_.fill_normal(2);
    v_.fill_normal(3);
    dout_.fill_normal(4);
    bind();
    problem_.repeat = x.repeat;
    run_forward();
  }

  dtype type() const override { return dq_.type(); }
  double flops() const override {
    auto const nq = static_cast<double>(nq_), nk = static_cast<double>(nk_);
    double const seeing = std::min(nq, nk);  // of the rows, where the mask is causal
    double const pairs = mask_ == TK_MASK_CAUSAL ? seeing * (nk - seeing / 2) : nq * nk;
    return 10 * pairs * static_cast<double>(b_ * hq_ * d_);
  }
  double bytes() const override {
    std::int64_t all = lse_.bytes();
    for (auto const* x : {&q_, &k_, &v_, &o_, &dout_, &dq_, &dk_, &dv_}) all += x->bytes();
    return static_cast<double>(all);
  }
  tk_repeat repeat() const override { return problem_.repeat; }
  std::vector<tensor*> outputs() override { return {&dq_, &dk_, &dv_}; }

  implementation tk() override {
    workspace_ = make_workspace(TK_OP_ATTENTION_BACKWARD, &problem_);
    auto const call = [this] {
      check(tk_attention_backward(&problem_, workspace_.data(),
                                  static_cast<std::size_t>(workspace_.bytes()), nullptr));
    };
    return {"tk", call};
  }
  peer_list peers() override {
    peer_list list;
    add_cudnn(list, backward_operands{&q_, &k_, &v_, &o_, &lse_, &dout_, &dq_, &dk_, &dv_,
                                      mask_ == TK_MASK_CAUSAL, scale_});
    return list;
  }

  verdict compare() override {
    if (reference_dq_.empty()) compute_reference();
    std::array<deviation, 3> off;
    bool const finite = add(off[0], dq_, query_rows_, reference_dq_) &&
                        add(off[1], dk_, key_rows_, reference_dk_) &&
                        add(off[2], dv_, key_rows_, reference_dv_);
    auto const& worst = *std::max_element(off.begin(), off.end(), [](auto const& x, auto const& y) {
      return x.relative() * y.relative_floor() < y.relative() * x.relative_floor();
    });
    return {finite ? worst.relative() : HUGE_VAL, 2 * worst.relative_floor()};
  }

 private:
  struct place {
    std::int64_t b, h, i;
  };

  void bind() {
    auto const dl = [this](int i, tensor const& x) { return &(dl_[std::size_t(i)] = x.dl()); };
    problem_.size = sizeof problem_;
    problem_.q = dl(0, q_);
    problem_.k = dl(1, k_);
    problem_.v = dl(2, v_);
    problem_.o = dl(3, o_);
    problem_.lse = dl(4, lse_);
    problem_.dout = dl(5, dout_);
    problem_.dq = dl(6, dq_);
    problem_.dk = dl(7, dk_);
    problem_.dv = dl(8, dv_);
    problem_.mask = mask_;
    problem_.scale = scale_;
  }

  // o and lse, on the device and for the oracle.
  void run_forward() {
    tk_attention_forward_problem x{};
    x.size = sizeof x;
    x.q = problem_.q, x.k = problem_.k, x.v = problem_.v, x.o = problem_.o, x.lse = problem_.lse;
    x.mask = mask_;
    x.scale = scale_;
    tensor const workspace = make_workspace(TK_OP_ATTENTION_FORWARD, &x);
    check(tk_attention_forward(&x, workspace.data(), static_cast<std::size_t>(workspace.bytes()),
                               nullptr));
    given_o_ = o_.copy_out();
    given_lse_ = lse_.copy_out();
  }

  bool add(deviation& to, tensor const& x, std::vector<place> const& rows,
           std::vector<row> const& reference) const {
    auto const values = x.copy_out();
    row got(static_cast<std::size_t>(d_));
    for (std::size_t r = 0; r < rows.size(); ++r) {
      tensor::read(got.data(), x.type(), values.data() + offset(x, rows[r]) * bytes_of(x.type()),
                   d_);
      for (std::size_t l = 0; l < got.size(); ++l) to.add(x.type(), got[l], reference[r][l]);
    }
    return all_finite(x.type(), values);
  }
  static std::int64_t offset(tensor const& x, place const& at) {
    auto const& s = x.strides();
    return at.b * s[0] + at.i * s[1] + at.h * s[2];
  }
  row read(tensor const& x, place const& at) const {
    row y(static_cast<std::size_t>(d_));
    x.read(y.data(), offset(x, at), d_);
    return y;
  }

  // Of n rows of each of h heads, all or so many: ends and edges, each in another batch and head.
  std::vector<place> choose(std::int64_t n, std::int64_t h, std::int64_t cost) const {
    std::int64_t const affordable = whole_products / std::max<std::int64_t>(1, cost);
    std::int64_t const total = b_ * h * n, wanted = std::max(affordable, sampled_rows);
    std::vector<place> rows;
    if (total <= wanted)
      for (std::int64_t r : sample_rows(total, total))
        rows.push_back({r / n / h, r / n % h, r % n});
    else
      for (std::int64_t i : sample_rows(n, wanted)) {
        std::int64_t const at = static_cast<std::int64_t>(rows.size()) * 7 % (b_ * h);
        rows.push_back({at / h, at % h, i});
      }
    return rows;
  }

  void compute_reference() {
    query_rows_ = choose(nq_, hq_, 3 * nk_ * d_);
    key_rows_ = choose(nk_, hk_, 4 * nq_ * (hq_ / hk_) * d_);
    row const zero(static_cast<std::size_t>(d_));
    reference_dq_.assign(query_rows_.size(), zero);
    reference_dk_.assign(key_rows_.size(), zero);
    reference_dv_.assign(key_rows_.size(), zero);
    auto const queries = static_cast<std::int64_t>(query_rows_.size());
    parallel_for(queries + static_cast<std::int64_t>(key_rows_.size()), [&](std::int64_t r) {
      if (r < queries) reference_query(static_cast<std::size_t>(r));
      else reference_key(static_cast<std::size_t>(r - queries));
    });
  }

  bool sees(std::int64_t i, std::int64_t j) const {
    return mask_ == TK_MASK_NONE || j <= i + nk_ - nq_;
  }
  struct query {
    row q, dout;
    double lse, delta;
  };
  query read_query(place const& at) const {
    query x{read(q_, at), read(dout_, at), 0, 0};
    row o(static_cast<std::size_t>(d_));
    tensor::read(o.data(), o_.type(), given_o_.data() + offset(o_, at) * bytes_of(o_.type()), d_);
    tensor::read(&x.lse, dtype::fp32,
                 given_lse_.data() + ((at.b * hq_ + at.h) * nq_ + at.i) * bytes_of(dtype::fp32), 1);
    x.delta = dot(o, x.dout);
    return x;
  }
  // p and ds of a query and a key.
  std::array<double, 2> pair(query const& x, row const& k, row const& v) const {
    double const p = std::exp(static_cast<double>(scale_) * dot(x.q, k) - x.lse);
    return {p, p * (dot(x.dout, v) - x.delta)};
  }

  void reference_query(std::size_t r) {
    place const at = query_rows_[r];
    query const x = read_query(at);
    for (std::int64_t j = 0; j < nk_ && sees(at.i, j); ++j) {
      place const key{at.b, at.h / (hq_ / hk_), j};
      row const k = read(k_, key);
      bench::add(reference_dq_[r], pair(x, k, read(v_, key))[1] * static_cast<double>(scale_), k);
    }
  }
  void reference_key(std::size_t r) {
    place const at = key_rows_[r];
    row const k = read(k_, at), v = read(v_, at);
    std::int64_t const group = hq_ / hk_;
    for (std::int64_t h = at.h * group; h < (at.h + 1) * group; ++h)
      for (std::int64_t i = 0; i < nq_; ++i) {
        if (!sees(i, at.i)) continue;
        query const x = read_query({at.b, h, i});
        auto const [p, ds] = pair(x, k, v);
        bench::add(reference_dv_[r], p, x.dout);
        bench::add(reference_dk_[r], ds * static_cast<double>(scale_), x.q);
      }
  }

  std::int64_t b_, nq_, nk_, hq_, hk_, d_;
  tk_mask mask_;
  float scale_;
  tensor q_, k_, v_, o_, lse_, dout_, dq_, dk_, dv_, workspace_;
  std::array<DLTensor, 9> dl_{};
  tk_attention_backward_problem problem_{};
  std::vector<std::byte> given_o_, given_lse_;
  std::vector<place> query_rows_, key_rows_;
  std::vector<row> reference_dq_, reference_dk_, reference_dv_;
};

suite_entry const entry{"attention-bwd",
                        {"b", "n", "h", "d", "nk", "hk", "mask", "type"},
                        make<attention_backward_benchmark>};

}  // namespace
}  // namespace tk::bench
