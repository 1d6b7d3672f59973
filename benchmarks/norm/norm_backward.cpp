// SPDX-License-Identifier: MIT
// Suite norm-bwd: dx and dweight (and, of LayerNorm, dbias) of LayerNorm and RMSNorm over rows,
// from r and dy, with residual plus dr, the gradient that reaches r from elsewhere; dropout=N and
// stream=fp32 as in suite norm, where dx and dresidual are both written. Bound by
// memory: flops is 0, the rate is that of the bytes that must move. The oracle computes some rows
// of dx (all, if that is cheap) and all sums in fp64. A right output is off by one rounding, the
// floor, and by fp32 statistics and sums: 2^-18 of it is more than they commit. Of the outputs the
// worst counts.
#include <algorithm>
#include <cmath>
#include <mutex>
#include <stdexcept>

#include "benchmarks/benchmark.hpp"
#include "ops/norm/norm_backward.h"
#include "tests/support/philox.hpp"

namespace tk::bench {
namespace {

constexpr std::int64_t whole_elements = std::int64_t{1} << 24;  // of dx, under a second
constexpr std::int64_t sampled_rows = 256, rows_at_once = 64;
constexpr double fp32_error = 0x1p-18;

using row = std::vector<double>;

tk_norm_kind parse_kind(std::string const& name) {
  if (name == "layer") return TK_NORM_LAYER;
  if (name == "rms") return TK_NORM_RMS;
  throw std::runtime_error("'" + name + "' is no kind of norm: layer or rms");
}

class norm_backward_benchmark final : public benchmark {
 public:
  explicit norm_backward_benchmark(bench_case const& x)
      : rows_(x.number("rows")),
        width_(x.number("width")),
        kind_(parse_kind(x.get("kind", "rms"))) {
    dtype const type = parse_dtype(x.get("type", "bf16"));
    dtype const stream = parse_dtype(x.get("stream", x.get("type", "bf16")));
    r_ = filled(stream, {rows_, width_}, 1);
    dy_ = filled(type, {rows_, width_}, 2);
    weight_ = filled(type, {width_}, 3);
    if (x.number("residual", 0) != 0) dr_ = filled(stream, {rows_, width_}, 4);
    dx_ = tensor(type, {rows_, width_});
    dweight_ = tensor(type, {width_});
    if (kind_ == TK_NORM_LAYER) dbias_ = tensor(type, {width_});
    problem_.dropout = static_cast<float>(x.number("dropout", 0)) / 256;
    problem_.seed = 1;
    if (problem_.dropout != 0 || stream != type) dresidual_ = tensor(stream, {rows_, width_});
    bind();
    problem_.repeat = x.repeat;
  }

  dtype type() const override { return dy_.type(); }
  double flops() const override { return 0; }
  double bytes() const override {
    std::int64_t sum = 0;
    for (auto const* x : {&r_, &dy_, &weight_, &dr_, &dx_, &dweight_, &dbias_, &dresidual_})
      if (*x) sum += x->bytes();
    return static_cast<double>(sum);
  }
  tk_repeat repeat() const override { return problem_.repeat; }
  std::vector<tensor*> outputs() override {
    std::vector<tensor*> all{&dx_, &dweight_};
    for (auto* more : {&dbias_, &dresidual_})
      if (*more) all.push_back(more);
    return all;
  }

  implementation tk() override {
    workspace_ = make_workspace(TK_OP_NORM_BACKWARD, &problem_);
    return {"tk", [this] {
              check(tk_norm_backward(&problem_, workspace_.data(),
                                     static_cast<std::size_t>(workspace_.bytes()), nullptr));
            }};
  }
  peer_list peers() override { return {}; }

  verdict compare() override {
    if (expected_.empty()) compute_reference();
    verdict worst{0, fp32_error};
    auto const look = [&](tensor const& x, std::vector<std::int64_t> const& rows, row const& want) {
      auto const got = x.copy_out();
      row values(static_cast<std::size_t>(width_));
      deviation all;
      for (std::size_t i = 0; i < rows.size(); ++i) {
        tensor::read(values.data(), x.type(), got.data() + rows[i] * width_ * bytes_of(x.type()),
                     width_);
        for (std::size_t j = 0; j < values.size(); ++j)
          all.add(x.type(), values[j], want[i * values.size() + j]);
      }
      verdict const v{all_finite(x.type(), got) ? all.relative() : HUGE_VAL,
                      1.1 * all.relative_floor() + fp32_error};
      if (v.error * worst.limit > worst.error * v.limit) worst = v;
    };
    look(dresidual_ ? dresidual_ : dx_, picked_, expected_);
    if (dresidual_) look(dx_, picked_, dropped());
    look(dweight_, {0}, expected_dweight_);
    if (dbias_) look(dbias_, {0}, expected_dbias_);
    return worst;
  }

 private:
  static tensor filled(dtype type, std::vector<std::int64_t> shape, std::uint64_t seed) {
    tensor t(type, std::move(shape));
    t.fill_normal(seed);
    return t;
  }

  void bind() {
    tensor const* const tensors[] = {&r_,  &dy_,      &weight_, &dr_,
                                     &dx_, &dweight_, &dbias_,  &dresidual_};
    DLTensor const** const places[] = {&problem_.r,     &problem_.dy,       &problem_.weight,
                                       &problem_.dr,    &problem_.dx,       &problem_.dweight,
                                       &problem_.dbias, &problem_.dresidual};
    for (std::size_t i = 0; i < 8; ++i) {
      if (!*tensors[i]) continue;
      dl_[i] = tensors[i]->dl();
      *places[i] = &dl_[i];
    }
    problem_.size = sizeof problem_;
    problem_.kind = kind_;
    problem_.eps = eps_;
  }

  // What is left of dresidual.
  row dropped() const {
    row all = expected_;
    auto const below = static_cast<unsigned>(std::lround(256 * problem_.dropout));
    for (std::size_t i = 0; below > 0 && i < all.size(); ++i) {
      auto const at = static_cast<std::int64_t>(i),
                 r = picked_[i / static_cast<std::size_t>(width_)];
      bool const kept =
          test::random_byte_of_row(problem_.seed, problem_.offset, r, at % width_) >= below;
      all[i] = kept ? all[i] * 256 / (256 - below) : 0;
    }
    return all;
  }

  // Adds a row to the sums; dx, without dr, where that is wanted.
  void add_row(std::int64_t at, row const& weight, row& dweight, row& dbias, double* dx) const {
    bool const layer = kind_ == TK_NORM_LAYER;
    double const n = static_cast<double>(width_);
    row h(weight.size()), dy(weight.size());
    r_.read(h.data(), at * width_, width_);
    dy_.read(dy.data(), at * width_, width_);
    double mean = 0, square = 0, mean_g = 0, mean_gh = 0;
    for (double const v : h) mean += layer ? v / n : 0;
    for (double const v : h) square += (v - mean) * (v - mean) / n;
    double const scale = 1 / std::sqrt(square + static_cast<double>(eps_));
    for (std::size_t j = 0; j < h.size(); ++j) {
      h[j] = (h[j] - mean) * scale;
      dweight[j] += dy[j] * h[j];
      dbias[j] += dy[j];
      mean_g += layer ? dy[j] * weight[j] / n : 0;
      mean_gh += dy[j] * weight[j] * h[j] / n;
    }
    for (std::size_t j = 0; dx && j < h.size(); ++j)
      dx[j] = scale * (dy[j] * weight[j] - mean_g - h[j] * mean_gh);
  }

  void compute_reference() {
    picked_ = sample_rows(rows_, std::max(whole_elements / width_, sampled_rows));
    auto const width = static_cast<std::size_t>(width_);
    expected_.assign(picked_.size() * width, 0);
    expected_dweight_.assign(width, 0);
    expected_dbias_.assign(width, 0);
    row weight(width);
    weight_.read(weight.data(), 0, width_);
    std::mutex adding;
    parallel_for((rows_ + rows_at_once - 1) / rows_at_once, [&](std::int64_t part) {
      row dweight(width, 0), dbias(width, 0), dr(width, 0);
      std::int64_t const first = part * rows_at_once;
      for (std::int64_t i = first; i < std::min(rows_, first + rows_at_once); ++i) {
        auto const found = std::lower_bound(picked_.begin(), picked_.end(), i);
        bool const wanted = found != picked_.end() && *found == i;
        double* const dx = wanted ? expected_.data() + (found - picked_.begin()) * width_ : nullptr;
        add_row(i, weight, dweight, dbias, dx);
        if (!wanted || !dr_) continue;
        dr_.read(dr.data(), i * width_, width_);
        for (std::size_t j = 0; j < width; ++j) dx[j] += dr[j];
      }
      std::scoped_lock const lock(adding);
      for (std::size_t j = 0; j < width; ++j)
        expected_dweight_[j] += dweight[j], expected_dbias_[j] += dbias[j];
    });
  }

  std::int64_t rows_, width_;
  tk_norm_kind kind_;
  float eps_ = 1e-5f;
  tensor r_, dy_, weight_, dr_, dx_, dweight_, dbias_, dresidual_, workspace_;
  DLTensor dl_[8]{};
  tk_norm_backward_problem problem_{};
  std::vector<std::int64_t> picked_;
  row expected_, expected_dweight_, expected_dbias_;
};

suite_entry const entry{"norm-bwd",
                        {"rows", "width", "kind", "residual", "type", "dropout", "stream"},
                        make<norm_backward_benchmark>};

}  // namespace
}  // namespace tk::bench
