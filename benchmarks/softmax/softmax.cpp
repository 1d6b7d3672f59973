// SPDX-License-Identifier: MIT
// Suites softmax-fwd, y = softmax(x + bias) over rows, also with a boolean mask, and softmax-bwd,
// dx from y and dy; both with or without a causal mask. Bound by memory: flops is 0, the rate is
// that of the bytes that must move: what rows see of the inputs, and outputs whole. The oracle
// computes some rows (all, if that is cheap) in fp64. A right output is off by one rounding, the
// floor, and by fp32 exponentials and sums: 2^-19 of it is more than they commit.
#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "benchmarks/benchmark.hpp"
#include "ops/softmax/softmax.h"
#include "ops/softmax/softmax_backward.h"

namespace tk::bench {
namespace {

constexpr std::int64_t whole_elements = std::int64_t{1} << 24;  // of the oracle, under a second
constexpr std::int64_t sampled_rows = 256;
constexpr double fp32_error = 0x1p-19;

bool is_causal(std::string const& name) {
  if (name != "none" && name != "causal")
    throw std::runtime_error("'" + name + "' is no mask: none or causal");
  return name == "causal";
}

tensor filled(dtype type, std::vector<std::int64_t> shape, std::uint64_t seed) {
  tensor t(type, std::move(shape));
  t.fill_normal(seed);
  return t;
}

// [h, rows, width], or [rows, width] where h is not given.
class row_benchmark : public benchmark {
 public:
  explicit row_benchmark(bench_case const& x)
      : h_(x.number("h", 0)),
        rows_(x.number("rows")),
        width_(x.number("width")),
        causal_(is_causal(x.get("mask", "none"))),
        type_(parse_dtype(x.get("type", "bf16"))),
        repeat_(x.repeat) {}

  dtype type() const override { return type_; }
  double flops() const override { return 0; }
  tk_repeat repeat() const override { return repeat_; }
  peer_list peers() override { return {}; }
  std::vector<tensor*> outputs() override { return {&output()}; }

  verdict compare() override {
    if (expected_.empty()) compute_reference();
    auto const got = output().copy_out();
    std::vector<double> row(static_cast<std::size_t>(width_));
    deviation all;
    for (std::size_t i = 0; i < picked_.size(); ++i) {
      tensor::read(row.data(), type_, got.data() + picked_[i] * width_ * bytes_of(type_), width_);
      for (std::size_t j = 0; j < row.size(); ++j)
        all.add(type_, row[j], expected_[i * row.size() + j]);
    }
    return {all_finite(type_, got) ? all.relative() : HUGE_VAL,
            1.1 * all.relative_floor() + fp32_error};
  }

 protected:
  virtual tensor& output() = 0;
  // The first `seen` elements of a row of the output, whose rows are zeros.
  virtual void reference(double* to, std::int64_t row, std::int64_t seen) const = 0;

  std::vector<std::int64_t> shape_of(std::int64_t h, std::int64_t rows) const {
    return h_ > 0 ? std::vector{h, rows, width_} : std::vector{rows, width_};
  }
  std::vector<std::int64_t> shape() const { return shape_of(h_, rows_); }
  std::int64_t width() const { return width_; }
  std::int64_t rows() const { return rows_; }
  std::int64_t all_rows() const { return std::max<std::int64_t>(h_, 1) * rows_; }
  tk_mask mask() const { return causal_ ? TK_MASK_CAUSAL : TK_MASK_NONE; }
  std::int64_t seen(std::int64_t row) const {
    if (!causal_) return width_;
    return std::clamp<std::int64_t>(row % rows_ + width_ - rows_ + 1, 0, width_);
  }
  // Of a tensor of `bytes`, what the rows of a matrix see.
  double seen_bytes(std::int64_t bytes) const {
    double elements = 0;
    for (std::int64_t row = 0; row < rows_; ++row) elements += static_cast<double>(seen(row));
    return static_cast<double>(bytes) * elements / static_cast<double>(rows_ * width_);
  }

 private:
  void compute_reference() {
    picked_ = sample_rows(all_rows(), std::max(whole_elements / width_, sampled_rows));
    expected_.assign(picked_.size() * static_cast<std::size_t>(width_), 0);
    parallel_for(static_cast<std::int64_t>(picked_.size()), [&](std::int64_t i) {
      auto const row = picked_[static_cast<std::size_t>(i)];
      reference(expected_.data() + i * width_, row, seen(row));
    });
  }

  std::int64_t h_, rows_, width_;
  bool causal_;
  dtype type_;
  tk_repeat repeat_;
  std::vector<std::int64_t> picked_;
  std::vector<double> expected_;
};

class forward_benchmark final : public row_benchmark {
 public:
  explicit forward_benchmark(bench_case const& x) : row_benchmark(x) {
    x_ = filled(type(), shape(), 1);
    y_ = tensor(type(), shape());
    auto const bias = x.get("bias", "none");
    if (bias == "matrix") bias_ = filled(type(), shape_of(1, rows()), 2);
    else if (bias == "row") bias_ = filled(type(), shape_of(1, 1), 2);
    else if (bias != "none")
      throw std::runtime_error("'" + bias + "' is no bias: none, matrix or row");
    auto const bools = x.get("bool_mask", "none");
    if (bools != "none") {
      if (bools != "matrix" && bools != "row")
        throw std::runtime_error("'" + bools + "' is no bool_mask: none, matrix or row");
      bool_mask_ = tensor(dtype::boolean, shape_of(1, bools == "matrix" ? rows() : 1));
      bool_mask_.fill_coins(3);
    }
    tensor const* const tensors[] = {&x_, &bias_, &y_, &bool_mask_};
    DLTensor const** const places[] = {&problem_.x, &problem_.bias, &problem_.y,
                                       &problem_.bool_mask};
    for (std::size_t i = 0; i < 4; ++i) {
      if (!*tensors[i]) continue;
      dl_[i] = tensors[i]->dl();
      *places[i] = &dl_[i];
    }
    problem_.size = sizeof problem_;
    problem_.mask = mask();
    problem_.scale = 1;
    problem_.repeat = repeat();
  }

  double bytes() const override {
    double sum = seen_bytes(x_.bytes()) + static_cast<double>(y_.bytes());
    for (auto const* of_all : {&bias_, &bool_mask_}) {
      auto const all = static_cast<double>(of_all->bytes());
      if (*of_all) sum += of_all->size() == width() ? all : seen_bytes(of_all->bytes());
    }
    return sum;
  }
  implementation tk() override {
    workspace_ = make_workspace(TK_OP_SOFTMAX, &problem_);
    return {"tk", [this] {
              check(tk_softmax(&problem_, workspace_.data(),
                               static_cast<std::size_t>(workspace_.bytes()), nullptr));
            }};
  }

 private:
  tensor& output() override { return y_; }
  void reference(double* to, std::int64_t row, std::int64_t seen) const override {
    x_.read(to, row * width(), seen);
    if (bias_) {
      std::vector<double> bias(static_cast<std::size_t>(seen));
      bias_.read(bias.data(), bias_.size() == width() ? 0 : row % rows() * width(), seen);
      for (std::int64_t j = 0; j < seen; ++j) to[j] += bias[static_cast<std::size_t>(j)];
    }
    if (bool_mask_) {
      std::vector<double> shown(static_cast<std::size_t>(seen));
      bool_mask_.read(shown.data(), bool_mask_.size() == width() ? 0 : row % rows() * width(),
                      seen);
      for (std::int64_t j = 0; j < seen; ++j)
        if (shown[static_cast<std::size_t>(j)] == 0) to[j] = -HUGE_VAL;
    }
    double const top = seen > 0 ? *std::max_element(to, to + seen) : 0;
    double sum = 0;
    for (std::int64_t j = 0; j < seen; ++j) sum += to[j] = std::exp(to[j] - top);
    for (std::int64_t j = 0; j < seen; ++j) to[j] /= sum;
  }

  tensor x_, bias_, y_, bool_mask_, workspace_;
  DLTensor dl_[4]{};
  tk_softmax_problem problem_{};
};

class backward_benchmark final : public row_benchmark {
 public:
  explicit backward_benchmark(bench_case const& x) : row_benchmark(x) {
    y_ = tensor(type(), shape());
    dy_ = filled(type(), shape(), 2);
    dx_ = tensor(type(), shape());
    compute_y();
    tensor const* const tensors[] = {&y_, &dy_, &dx_};
    for (std::size_t i = 0; i < 3; ++i) dl_[i] = tensors[i]->dl();
    problem_.size = sizeof problem_;
    problem_.y = &dl_[0];
    problem_.dy = &dl_[1];
    problem_.dx = &dl_[2];
    problem_.mask = mask();
    problem_.scale = 1;
    problem_.repeat = repeat();
  }

  double bytes() const override {
    return seen_bytes(y_.bytes() + dy_.bytes()) + static_cast<double>(dx_.bytes());
  }
  implementation tk() override {
    workspace_ = make_workspace(TK_OP_SOFTMAX_BACKWARD, &problem_);
    return {"tk", [this] {
              check(tk_softmax_backward(&problem_, workspace_.data(),
                                        static_cast<std::size_t>(workspace_.bytes()), nullptr));
            }};
  }

 private:
  // By the forward itself, which suite softmax-fwd compares.
  void compute_y() {
    tensor const x = filled(type(), shape(), 1);
    DLTensor const in = x.dl(), out = y_.dl();
    tk_softmax_problem p{};
    p.size = sizeof p;
    p.x = &in;
    p.y = &out;
    p.mask = mask();
    p.scale = 1;
    tensor const workspace = make_workspace(TK_OP_SOFTMAX, &p);
    check(tk_softmax(&p, workspace.data(), static_cast<std::size_t>(workspace.bytes()), nullptr));
    y_bytes_ = y_.copy_out();
  }

  tensor& output() override { return dx_; }
  void reference(double* to, std::int64_t row, std::int64_t seen) const override {
    std::vector<double> y(static_cast<std::size_t>(seen));
    tensor::read(y.data(), type(), y_bytes_.data() + row * width() * bytes_of(type()), seen);
    dy_.read(to, row * width(), seen);
    double sum = 0;
    for (std::int64_t j = 0; j < seen; ++j) sum += y[static_cast<std::size_t>(j)] * to[j];
    for (std::int64_t j = 0; j < seen; ++j) to[j] = y[static_cast<std::size_t>(j)] * (to[j] - sum);
  }

  tensor y_, dy_, dx_, workspace_;
  std::vector<std::byte> y_bytes_;
  DLTensor dl_[3]{};
  tk_softmax_backward_problem problem_{};
};

suite_entry const forward{"softmax-fwd",
                          {"h", "rows", "width", "mask", "bias", "bool_mask", "type"},
                          make<forward_benchmark>};
suite_entry const backward{
    "softmax-bwd", {"h", "rows", "width", "mask", "type"}, make<backward_benchmark>};

}  // namespace
}  // namespace tk::bench
