// SPDX-License-Identifier: MIT
// Suite norm: LayerNorm and RMSNorm over rows, with weight (and, of LayerNorm, bias), alone or
// fused with the sum r = x + residual, of which dropout=N drops N of 256 elements of x, and which
// is of another type with stream=fp32. Bound by memory: flops is 0, the rate is that of the bytes
// that must move. The oracle computes some rows (all, if that is cheap) in fp64. A right output is
// off by one rounding, the floor, and by fp32 statistics: 2^-20 of y is more than they commit. With
// to=e4m3 or e5m2 y is fp8 with a scale for each row, and y scale is what is compared: off by the
// rounding of fp8, which bounds it.
#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "benchmarks/benchmark.hpp"
#include "ops/norm/norm.h"
#include "tests/support/philox.hpp"

namespace tk::bench {
namespace {

constexpr std::int64_t whole_elements = std::int64_t{1} << 24;  // of the oracle, under a second
constexpr std::int64_t sampled_rows = 256;
constexpr double statistics_error = 0x1p-20;
// Half the distance of neighbours, for numbers all just above a power of two.
constexpr double e4m3_error = 0x1p-4, e5m2_error = 0x1p-3;

tk_norm_kind parse_kind(std::string const& name) {
  if (name == "layer") return TK_NORM_LAYER;
  if (name == "rms") return TK_NORM_RMS;
  throw std::runtime_error("'" + name + "' is no kind of norm: layer or rms");
}

// What y is; of x's type where nothing is said.
dtype parse_y_type(std::string const& name, dtype type) {
  if (name.empty()) return type;
  if (name != "e4m3" && name != "e5m2")
    throw std::runtime_error("'" + name + "' is no type of fp8: e4m3 or e5m2");
  return name == "e4m3" ? dtype::fp8_e4m3 : dtype::fp8_e5m2;
}

class norm_benchmark final : public benchmark {
 public:
  explicit norm_benchmark(bench_case const& x)
      : rows_(x.number("rows")),
        width_(x.number("width")),
        kind_(parse_kind(x.get("kind", "rms"))) {
    dtype const type = parse_dtype(x.get("type", "bf16"));
    x_ = filled(type, {rows_, width_}, 1);
    weight_ = filled(type, {width_}, 2);
    if (kind_ == TK_NORM_LAYER) bias_ = filled(type, {width_}, 3);
    y_ = tensor(parse_y_type(x.get("to", ""), type), {rows_, width_});
    if (is_fp8()) y_scale_ = tensor(dtype::fp32, {rows_});
    if (x.number("residual", 0) != 0) {
      dtype const stream = parse_dtype(x.get("stream", x.get("type", "bf16")));
      residual_ = filled(stream, {rows_, width_}, 4);
      r_ = tensor(stream, {rows_, width_});
    }
    bind();
    problem_.dropout = static_cast<float>(x.number("dropout", 0)) / 256;
    problem_.seed = 1;
    problem_.repeat = x.repeat;
  }

  dtype type() const override { return x_.type(); }
  double flops() const override { return 0; }
  double bytes() const override {
    std::int64_t sum = x_.bytes() + y_.bytes() + weight_.bytes();
    if (bias_) sum += bias_.bytes();
    if (residual_) sum += residual_.bytes() + r_.bytes();
    if (y_scale_) sum += y_scale_.bytes();
    return static_cast<double>(sum);
  }
  tk_repeat repeat() const override { return problem_.repeat; }
  std::vector<tensor*> outputs() override {
    std::vector<tensor*> all{&y_};
    for (tensor* t : {&r_, &y_scale_})
      if (*t) all.push_back(t);
    return all;
  }

  implementation tk() override {
    workspace_ = make_workspace(TK_OP_NORM, &problem_);
    return {"tk", [this] {
              check(tk_norm(&problem_, workspace_.data(),
                            static_cast<std::size_t>(workspace_.bytes()), nullptr));
            }};
  }
  peer_list peers() override { return {}; }

  verdict compare() override {
    if (reference_.empty()) compute_reference();
    std::vector<std::byte> const y = y_.copy_out(), r = r_ ? r_.copy_out() : y,
                                 scales = y_scale_ ? y_scale_.copy_out() : y;
    std::vector<double> row(static_cast<std::size_t>(width_));
    deviation ys, rs;
    for (std::size_t i = 0; i < rows_of_reference_.size(); ++i) {
      std::int64_t const first = rows_of_reference_[i] * width_;
      auto const add = [&](deviation& all, dtype of, auto const& got, auto const& want) {
        tensor::read(row.data(), of, got.data() + first * bytes_of(of), width_);
        for (std::size_t j = 0; j < row.size(); ++j) all.add(of, row[j], want[i * row.size() + j]);
      };
      if (is_fp8()) add_fp8(ys, y, scales, i);
      else add(ys, type(), y, reference_);
      if (r_) add(rs, r_.type(), r, sums_);
    }
    bool const right = all_finite(y_.type(), y) && all_finite(r_ ? r_.type() : y_.type(), r) &&
                       rs.relative() <= 1.1 * rs.relative_floor() + statistics_error;
    double const error = right ? ys.relative() : HUGE_VAL;
    if (is_fp8()) return {error, y_.type() == dtype::fp8_e4m3 ? e4m3_error : e5m2_error};
    return {error, 1.1 * ys.relative_floor() + statistics_error};
  }

 private:
  bool is_fp8() const { return y_.type() == dtype::fp8_e4m3 || y_.type() == dtype::fp8_e5m2; }
  // y scale of the i-th row that is compared.
  void add_fp8(deviation& all, std::vector<std::byte> const& y,
               std::vector<std::byte> const& scales, std::size_t i) const {
    auto const row = rows_of_reference_[i];
    std::vector<double> got(static_cast<std::size_t>(width_));
    double scale;
    tensor::read(&scale, dtype::fp32, scales.data() + 4 * row, 1);
    tensor::read(got.data(), y_.type(), y.data() + row * width_, width_);
    for (std::size_t j = 0; j < got.size(); ++j)
      all.add(dtype::fp32, got[j] * scale, reference_[i * got.size() + j]);
  }

  static tensor filled(dtype type, std::vector<std::int64_t> shape, std::uint64_t seed) {
    tensor t(type, std::move(shape));
    t.fill_normal(seed);
    return t;
  }

  void bind() {
    tensor const* const tensors[] = {&x_, &residual_, &weight_, &bias_, &y_, &r_, &y_scale_};
    DLTensor const** const places[] = {&problem_.x,      &problem_.residual, &problem_.weight,
                                       &problem_.bias,   &problem_.y,        &problem_.r,
                                       &problem_.y_scale};
    for (std::size_t i = 0; i < 7; ++i) {
      if (!*tensors[i]) continue;
      dl_[i] = tensors[i]->dl();
      *places[i] = &dl_[i];
    }
    problem_.size = sizeof problem_;
    problem_.kind = kind_;
    problem_.eps = eps_;
  }

  void compute_reference() {
    rows_of_reference_ = sample_rows(rows_, std::max(whole_elements / width_, sampled_rows));
    reference_.assign(rows_of_reference_.size() * static_cast<std::size_t>(width_), 0);
    sums_ = reference_;
    std::vector<double> weight(static_cast<std::size_t>(width_), 1), bias(weight.size(), 0);
    weight_.read(weight.data(), 0, width_);
    if (bias_) bias_.read(bias.data(), 0, width_);
    parallel_for(static_cast<std::int64_t>(rows_of_reference_.size()), [&](std::int64_t i) {
      std::int64_t const first = rows_of_reference_[static_cast<std::size_t>(i)] * width_;
      double *const s = sums_.data() + i * width_, *const y = reference_.data() + i * width_;
      std::vector<double> other(weight.size(), 0);
      x_.read(s, first, width_);
      if (residual_) residual_.read(other.data(), first, width_);
      drop(s, first / width_);
      double mean = 0, square = 0;
      for (std::int64_t j = 0; j < width_; ++j) mean += s[j] += other[static_cast<std::size_t>(j)];
      mean = kind_ == TK_NORM_LAYER ? mean / static_cast<double>(width_) : 0;
      for (std::int64_t j = 0; j < width_; ++j) square += (s[j] - mean) * (s[j] - mean);
      double const scale =
          1 / std::sqrt(square / static_cast<double>(width_) + static_cast<double>(eps_));
      for (std::int64_t j = 0; j < width_; ++j)
        y[j] = (s[j] - mean) * scale * weight[static_cast<std::size_t>(j)] +
               bias[static_cast<std::size_t>(j)];
    });
  }

  // Elements of x become what is left of them.
  void drop(double* x, std::int64_t row) const {
    auto const below = static_cast<unsigned>(std::lround(256 * problem_.dropout));
    for (std::int64_t j = 0; below > 0 && j < width_; ++j) {
      bool const kept = test::random_byte_of_row(problem_.seed, problem_.offset, row, j) >= below;
      x[j] = kept ? x[j] * 256 / (256 - below) : 0;
    }
  }

  std::int64_t rows_, width_;
  tk_norm_kind kind_;
  float eps_ = 1e-5f;
  tensor x_, residual_, weight_, bias_, y_, r_, y_scale_, workspace_;
  DLTensor dl_[7]{};
  tk_norm_problem problem_{};
  std::vector<std::int64_t> rows_of_reference_;
  std::vector<double> reference_, sums_;
};

suite_entry const entry{"norm",
                        {"rows", "width", "kind", "residual", "type", "dropout", "stream", "to"},
                        make<norm_benchmark>};

}  // namespace
}  // namespace tk::bench
