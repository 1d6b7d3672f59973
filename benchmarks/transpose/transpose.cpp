// SPDX-License-Identifier: MIT
// Suite transpose: h matrices of n rows by m columns become m by n. Bound by memory: flops is 0,
// the rate is that of the bytes that must move, and its ceiling that of a copy of as many. A right
// output holds the very numbers of x; the oracle looks at some rows (all, if that is cheap).
#include <algorithm>

#include "benchmarks/benchmark.hpp"
#include "ops/transpose/transpose.h"

namespace tk::bench {
namespace {

constexpr std::int64_t whole_elements = std::int64_t{1} << 24;  // of the oracle, under a second
constexpr std::int64_t sampled_rows = 256;

class transpose_benchmark final : public benchmark {
 public:
  explicit transpose_benchmark(bench_case const& x)
      : h_(x.number("h", 1)),
        n_(x.number("n")),
        m_(x.number("m")),
        type_(parse_dtype(x.get("type", "bf16"))),
        repeat_(x.repeat) {
    std::int64_t const pitch = m_ + x.number("pad", 0);
    memory_ = tensor(type_, {h_, n_, pitch});
    memory_.fill_normal(1);
    x_ = memory_.slice(0, {h_, n_, m_}, {n_ * pitch, pitch, 1});
    y_ = tensor(type_, {h_, m_, n_});
    dl_[0] = x_.dl(), dl_[1] = y_.dl();
    problem_.size = sizeof problem_;
    problem_.x = &dl_[0];
    problem_.y = &dl_[1];
    problem_.repeat = repeat_;
  }

  dtype type() const override { return type_; }
  double flops() const override { return 0; }
  double bytes() const override { return 2 * static_cast<double>(y_.bytes()); }
  tk_repeat repeat() const override { return repeat_; }
  implementation tk() override {
    return {"tk", [this] { check(tk_transpose(&problem_, nullptr, 0, nullptr)); }};
  }
  peer_list peers() override { return {}; }
  std::vector<tensor*> outputs() override { return {&y_}; }

  verdict compare() override {
    auto const got = y_.copy_out();
    std::vector<double> row(static_cast<std::size_t>(n_)), expected(row.size());
    deviation all;
    for (auto const i : sample_rows(h_ * m_, std::max(whole_elements / n_, sampled_rows))) {
      tensor::read(row.data(), type_, got.data() + i * n_ * bytes_of(type_), n_);
      x_.read(expected.data(), i / m_ * x_.strides()[0] + i % m_, n_, x_.strides()[1]);
      for (std::size_t j = 0; j < row.size(); ++j) all.add(type_, row[j], expected[j]);
    }
    return {all_finite(type_, got) ? all.relative() : 1, 0};
  }

 private:
  std::int64_t h_, n_, m_;
  dtype type_;
  tk_repeat repeat_;
  tensor memory_, x_, y_;
  DLTensor dl_[2]{};
  tk_transpose_problem problem_{};
};

suite_entry const entry{"transpose", {"h", "n", "m", "pad", "type"}, make<transpose_benchmark>};

}  // namespace
}  // namespace tk::bench
