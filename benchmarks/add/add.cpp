// SPDX-License-Identifier: MIT
// Suite add: y = a + b, 0.5 a, or a in another type, over rows. Bound by memory: flops is 0, the
// rate is that of the bytes that must move, and its ceiling that of a copy of as many. The oracle
// computes some rows (all, if that is cheap) in fp64. A right output is off by one rounding, the
// floor, and by that of a sum in fp32, 2^-24 of it, more where terms cancel.
#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "benchmarks/benchmark.hpp"
#include "ops/add/add.h"

namespace tk::bench {
namespace {

constexpr std::int64_t whole_elements = std::int64_t{1} << 24;  // of the oracle, under a second
constexpr std::int64_t sampled_rows = 256;
constexpr double fp32_error = 0x1p-22;

class add_benchmark final : public benchmark {
 public:
  explicit add_benchmark(bench_case const& x)
      : rows_(x.number("rows")),
        width_(x.number("width")),
        type_(parse_dtype(x.get("y", x.get("type", "bf16")))),
        repeat_(x.repeat) {
    std::int64_t const pitch = width_ + x.number("pad", 0);
    auto const what = x.get("what", "add");
    if (what != "add" && what != "scale" && what != "cast")
      throw std::runtime_error("'" + what + "' is none of add, scale and cast");
    a_memory_ = tensor(parse_dtype(x.get("type", "bf16")), {rows_, pitch});
    a_memory_.fill_normal(1);
    a_ = a_memory_.slice(0, {rows_, width_}, {pitch, 1});
    y_ = tensor(type_, {rows_, width_});
    if (what == "add") {
      auto const of_b = x.get("b", "rows");
      if (of_b != "rows" && of_b != "row")
        throw std::runtime_error("'" + of_b + "' is no b: row, or left out");
      b_ = tensor(type_, {of_b == "row" ? 1 : rows_, width_});
      b_.fill_normal(2);
    }
    tensor const* const tensors[] = {&a_, &b_, &y_};
    DLTensor const** const places[] = {&problem_.a, &problem_.b, &problem_.y};
    for (std::size_t i = 0; i < 3; ++i) {
      if (!*tensors[i]) continue;
      dl_[i] = tensors[i]->dl();
      *places[i] = &dl_[i];
    }
    problem_.size = sizeof problem_;
    problem_.alpha = what == "scale" ? 0.5f : 1.f;
    problem_.beta = what == "add" ? 1.f : 0.f;
    problem_.repeat = repeat_;
  }

  dtype type() const override { return type_; }
  double flops() const override { return 0; }
  double bytes() const override {
    return static_cast<double>(a_.bytes() + (b_ ? b_.bytes() : 0) + y_.bytes());
  }
  tk_repeat repeat() const override { return repeat_; }
  implementation tk() override {
    workspace_ = make_workspace(TK_OP_ADD, &problem_);
    return {"tk", [this] {
              check(tk_add(&problem_, workspace_.data(),
                           static_cast<std::size_t>(workspace_.bytes()), nullptr));
            }};
  }
  peer_list peers() override { return {}; }
  std::vector<tensor*> outputs() override { return {&y_}; }

  verdict compare() override {
    auto const got = y_.copy_out();
    // Of long rows a part, of short ones many.
    std::int64_t const part = std::min(width_, whole_elements);
    std::vector<double> a(static_cast<std::size_t>(part)), b(a.size(), 0), y(a.size());
    deviation all;
    for (auto const row : sample_rows(rows_, std::max(whole_elements / width_, sampled_rows))) {
      a_.read(a.data(), row * a_.strides()[0], part);
      if (b_) b_.read(b.data(), b_.shape()[0] == 1 ? 0 : row * width_, part);
      tensor::read(y.data(), type_, got.data() + row * width_ * bytes_of(type_), part);
      for (std::size_t j = 0; j < a.size(); ++j)
        all.add(type_, y[j], static_cast<double>(problem_.alpha) * a[j] + b[j]);
    }
    return {all_finite(type_, got) ? all.relative() : HUGE_VAL,
            1.1 * all.relative_floor() + fp32_error};
  }

 private:
  std::int64_t rows_, width_;
  dtype type_;
  tk_repeat repeat_;
  tensor a_memory_, a_, b_, y_, workspace_;
  DLTensor dl_[3]{};
  tk_add_problem problem_{};
};

suite_entry const entry{
    "add", {"rows", "width", "what", "b", "pad", "type", "y"}, make<add_benchmark>};

}  // namespace
}  // namespace tk::bench
