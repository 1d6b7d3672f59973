// SPDX-License-Identifier: MIT
// Suite quantise: x to fp8, with a scale for each row, block of 1 x 128 or 128 x 128, or tensor.
// Bound by memory: flops is 0, the rate is that of the bytes that must move, x once and y and
// scales once. What is compared is y scale with x: off by the rounding of fp8, which bounds it.
// (Tests compare every bit.)
#include <algorithm>
#include <cmath>
#include <map>
#include <stdexcept>

#include "benchmarks/benchmark.hpp"
#include "ops/quantise/quantise.h"

namespace tk::bench {
namespace {

constexpr std::int64_t whole_elements = std::int64_t{1} << 24;  // that are compared
constexpr std::int64_t sampled_rows = 256;
// Half the distance of neighbours, for numbers all just above a power of two; normal numbers of a
// block have some below the least of fp8, which count for nothing beside them.
constexpr double e4m3_error = 0x1p-4, e5m2_error = 0x1p-3;

tk_scale_kind parse_kind(std::string const& name) {
  static std::map<std::string, tk_scale_kind> const kinds{{"row", TK_SCALE_ROW},
                                                          {"1x128", TK_SCALE_1X128},
                                                          {"128x128", TK_SCALE_128X128},
                                                          {"tensor", TK_SCALE_TENSOR}};
  auto const found = kinds.find(name);
  if (found == kinds.end())
    throw std::runtime_error("'" + name + "' is no block: row, 1x128, 128x128 or tensor");
  return found->second;
}
dtype parse_fp8(std::string const& name) {
  if (name != "e4m3" && name != "e5m2")
    throw std::runtime_error("'" + name + "' is no type of fp8: e4m3 or e5m2");
  return name == "e4m3" ? dtype::fp8_e4m3 : dtype::fp8_e5m2;
}

class quantise_benchmark final : public benchmark {
 public:
  explicit quantise_benchmark(bench_case const& x)
      : rows_(x.number("rows")),
        width_(x.number("width")),
        kind_(parse_kind(x.get("by", "row"))),
        type_(parse_dtype(x.get("type", "bf16"))),
        repeat_(x.repeat),
        x_(type_, {rows_, width_}),
        y_(parse_fp8(x.get("to", "e4m3")), {rows_, width_}),
        scale_(dtype::fp32, scale_shape()) {
    x_.fill_normal(1);
    DLTensor const** const places[] = {&problem_.x, &problem_.y, &problem_.scale};
    tensor const* const tensors[] = {&x_, &y_, &scale_};
    for (std::size_t i = 0; i < 3; ++i) {
      dl_[i] = tensors[i]->dl();
      *places[i] = &dl_[i];
    }
    problem_.size = sizeof problem_;
    problem_.kind = kind_;
    problem_.repeat = repeat_;
  }

  dtype type() const override { return type_; }
  double flops() const override { return 0; }
  double bytes() const override {
    return static_cast<double>(x_.bytes() + y_.bytes() + scale_.bytes());
  }
  tk_repeat repeat() const override { return repeat_; }
  implementation tk() override {
    workspace_ = make_workspace(TK_OP_QUANTISE, &problem_);
    return {"tk", [this] {
              check(tk_quantise(&problem_, workspace_.data(),
                                static_cast<std::size_t>(workspace_.bytes()), nullptr));
            }};
  }
  peer_list peers() override { return {}; }
  std::vector<tensor*> outputs() override { return {&y_, &scale_}; }

  verdict compare() override {
    auto const got = y_.copy_out(), scales = scale_.copy_out();
    auto const size = static_cast<std::size_t>(width_);
    std::vector<double> x(size), y(size);
    deviation all;
    for (auto const row : sample_rows(rows_, std::max(whole_elements / width_, sampled_rows))) {
      x_.read(x.data(), row * width_, width_);
      tensor::read(y.data(), y_.type(), got.data() + row * width_, width_);
      for (std::int64_t col = 0; col < width_; ++col) {
        double scale;
        tensor::read(&scale, dtype::fp32, scales.data() + 4 * scale_at(row, col), 1);
        auto const i = static_cast<std::size_t>(col);
        all.add(dtype::fp32, y[i] * scale, x[i]);
      }
    }
    bool const finite = all_finite(y_.type(), got) && all_finite(dtype::fp32, scales);
    return {finite ? all.relative() : HUGE_VAL,
            y_.type() == dtype::fp8_e4m3 ? e4m3_error : e5m2_error};
  }

 private:
  static std::int64_t in_blocks(std::int64_t n) { return (n + 127) / 128; }
  std::vector<std::int64_t> scale_shape() const {
    switch (kind_) {
      case TK_SCALE_ROW: return {rows_};
      case TK_SCALE_1X128: return {rows_, in_blocks(width_)};
      case TK_SCALE_128X128: return {in_blocks(rows_), in_blocks(width_)};
      default: return {1};
    }
  }
  std::int64_t scale_at(std::int64_t row, std::int64_t col) const {
    switch (kind_) {
      case TK_SCALE_ROW: return row;
      case TK_SCALE_1X128: return row * in_blocks(width_) + col / 128;
      case TK_SCALE_128X128: return row / 128 * in_blocks(width_) + col / 128;
      default: return 0;
    }
  }

  std::int64_t rows_, width_;
  tk_scale_kind kind_;
  dtype type_;
  tk_repeat repeat_;
  tensor x_, y_, scale_, workspace_;
  DLTensor dl_[3]{};
  tk_quantise_problem problem_{};
};

suite_entry const entry{
    "quantise", {"rows", "width", "by", "type", "to"}, make<quantise_benchmark>};

}  // namespace
}  // namespace tk::bench
