// SPDX-License-Identifier: MIT
// Suites activation-fwd, y = act(a) b or act(a), and activation-bwd, da and db from a, b and dy.
// Bound by memory: flops is 0, the rate is that of the bytes that must move. The oracle computes
// some rows (all, if that is cheap) in fp64. A right output is off by one rounding, the floor, and
// by what core/activation.hpp commits: 2^-18 of it is more.
#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "benchmarks/benchmark.hpp"
#include "ops/activation/activation.h"
#include "ops/activation/activation_backward.h"
#include "tests/support/activate.hpp"

namespace tk::bench {
namespace {

constexpr std::int64_t whole_elements = std::int64_t{1} << 24;  // of the oracle, some seconds
constexpr std::int64_t sampled_rows = 256;
constexpr double fp32_error = 0x1p-18;

tk_activation_kind parse_activation(std::string const& name) {
  for (int kind = 0; kind <= TK_ACTIVATION_SIGMOID; ++kind)
    if (name == test::activation_name(static_cast<tk_activation_kind>(kind)))
      return static_cast<tk_activation_kind>(kind);
  throw std::runtime_error("'" + name +
                           "' is no activation: none, relu, silu, gelu_tanh, gelu_erf or sigmoid");
}

enum class gating { none, apart, packed, interleaved };
gating parse_gating(std::int64_t number) {
  if (number < 0 || number > 3)
    throw std::runtime_error("gated is " + std::to_string(number) + "; it must be 0 to 3");
  return static_cast<gating>(number);
}

// Halves, each a slice, of one tensor; or a tensor each; or the first alone, which may hold both in
// turn. Filled where a seed is given.
class pair_of_rows {
 public:
  pair_of_rows(dtype type, std::int64_t rows, std::int64_t width, gating how,
               std::uint64_t seed = 0)
      : packed_(how == gating::packed), in_turn_(how == gating::interleaved), width_(width) {
    std::int64_t const pitch = packed_ || in_turn_ ? 2 * width : width;
    whole_ = tensor(type, {rows, pitch});
    if (how == gating::apart) second_ = tensor(type, {rows, width});
    if (seed > 0) whole_.fill_normal(seed);
    if (seed > 0 && second_) second_.fill_normal(seed + 100);
    if (!packed_) return;
    first_ = whole_.slice(0, {rows, width}, {pitch, 1});
    second_ = whole_.slice(width, {rows, width}, {pitch, 1});
  }
  pair_of_rows(pair_of_rows const&) = delete;

  tensor const& operator[](int index) const {
    return index == 1 ? second_ : packed_ ? first_ : whole_;
  }
  double bytes() const {
    return static_cast<double>(whole_.bytes() + (packed_ || !second_ ? 0 : second_.bytes()));
  }
  // The memory that they lie in, and where a row of either begins there.
  std::vector<tensor*> memories() {
    return second_ && !packed_ ? std::vector{&whole_, &second_} : std::vector{&whole_};
  }
  std::int64_t offset(std::int64_t row, int index) const {
    if (in_turn_) return 2 * row * width_ + index;
    return packed_ ? (2 * row + index) * width_ : row * width_;
  }
  std::int64_t step() const { return in_turn_ ? 2 : 1; }
  void read(double* to, std::int64_t row, int index) const {
    auto const& from = index == 1 && second_ && !packed_ ? second_ : whole_;
    from.read(to, offset(row, index), width_, step());
  }

 private:
  bool packed_, in_turn_;
  std::int64_t width_;
  tensor whole_, first_, second_;
};

class activation_benchmark : public benchmark {
 public:
  explicit activation_benchmark(bench_case const& x)
      : rows_(x.number("rows")),
        width_(x.number("width")),
        kind_(parse_activation(x.get("act", "silu"))),
        gated_(parse_gating(x.number("gated", 2))),
        type_(parse_dtype(x.get("type", "bf16"))),
        repeat_(x.repeat),
        in_(type_, rows_, width_, gated_, 1) {
    dl_[0] = in_[0].dl();
    if (has_b()) dl_[1] = in_[1].dl();
  }

  dtype type() const override { return type_; }
  double flops() const override { return 0; }
  tk_repeat repeat() const override { return repeat_; }
  peer_list peers() override { return {}; }

 protected:
  // y, or da and db, of a row's elements.
  virtual void reference(std::int64_t row, std::vector<double>& first,
                         std::vector<double>& second) const = 0;
  virtual pair_of_rows const& out() const = 0;
  virtual int outputs_of_row() const = 0;

  verdict compare() override {
    auto const picked = sample_rows(rows_, std::max(whole_elements / width_, sampled_rows));
    std::vector<std::vector<std::byte>> got;
    for (auto* t : outputs()) got.push_back(t->copy_out());
    bool finite = true;
    for (auto const& bytes : got) finite = finite && all_finite(type_, bytes);
    auto const size = static_cast<std::size_t>(width_);
    std::vector<double> row(size),
        expected[2]{std::vector<double>(size), std::vector<double>(size)};
    deviation all;
    for (auto const r : picked) {
      reference(r, expected[0], expected[1]);
      for (int i = 0; i < outputs_of_row(); ++i) {
        auto const& bytes = got[i == 1 && got.size() > 1 ? 1 : 0];
        tensor::read(row.data(), type_, bytes.data() + out().offset(r, i) * bytes_of(type_), width_,
                     out().step());
        for (std::size_t j = 0; j < size; ++j) all.add(type_, row[j], expected[i][j]);
      }
    }
    return {finite ? all.relative() : HUGE_VAL, 1.1 * all.relative_floor() + fp32_error};
  }

  std::vector<double> input(std::int64_t row, int index) const {
    std::vector<double> x(static_cast<std::size_t>(width_), 1);
    if (index == 0 || is_gated()) in_.read(x.data(), row, index);
    return x;
  }
  bool is_gated() const { return gated_ != gating::none; }
  bool is_interleaved() const { return gated_ == gating::interleaved; }
  bool has_b() const { return is_gated() && !is_interleaved(); }
  std::int64_t rows() const { return rows_; }
  std::int64_t width() const { return width_; }
  tk_activation_kind kind() const { return kind_; }
  gating gated() const { return gated_; }
  double input_bytes() const { return in_.bytes(); }
  DLTensor const* a() const { return &dl_[0]; }
  DLTensor const* b() const { return has_b() ? &dl_[1] : nullptr; }

 private:
  std::int64_t rows_, width_;
  tk_activation_kind kind_;
  gating gated_;
  dtype type_;
  tk_repeat repeat_;
  pair_of_rows in_;
  DLTensor dl_[2]{};
};

class forward_benchmark final : public activation_benchmark {
 public:
  explicit forward_benchmark(bench_case const& x)
      : activation_benchmark(x), y_(type(), rows(), width(), gating::none), dl_(y_[0].dl()) {
    problem_.size = sizeof problem_;
    problem_.a = a();
    problem_.b = b();
    problem_.y = &dl_;
    problem_.kind = kind();
    problem_.interleaved = is_interleaved();
    problem_.repeat = repeat();
  }
  double bytes() const override { return input_bytes() + y_.bytes(); }
  implementation tk() override {
    workspace_ = make_workspace(TK_OP_ACTIVATION, &problem_);
    return {"tk", [this] {
              check(tk_activation(&problem_, workspace_.data(),
                                  static_cast<std::size_t>(workspace_.bytes()), nullptr));
            }};
  }
  std::vector<tensor*> outputs() override { return y_.memories(); }

 private:
  pair_of_rows const& out() const override { return y_; }
  int outputs_of_row() const override { return 1; }
  void reference(std::int64_t row, std::vector<double>& y, std::vector<double>&) const override {
    auto const a = input(row, 0), b = input(row, 1);
    for (std::size_t j = 0; j < y.size(); ++j) y[j] = test::activate(kind(), a[j]) * b[j];
  }

  pair_of_rows y_;
  tensor workspace_;
  DLTensor dl_;
  tk_activation_problem problem_{};
};

// da and db lie as a and b do.
class backward_benchmark final : public activation_benchmark {
 public:
  explicit backward_benchmark(bench_case const& x)
      : activation_benchmark(x),
        dy_(type(), rows(), width(), gating::none, 2),
        out_(type(), rows(), width(), gated()) {
    dl_[0] = dy_[0].dl();
    dl_[1] = out_[0].dl();
    if (has_b()) dl_[2] = out_[1].dl();
    problem_.size = sizeof problem_;
    problem_.a = a();
    problem_.b = b();
    problem_.dy = &dl_[0];
    problem_.da = &dl_[1];
    problem_.db = has_b() ? &dl_[2] : nullptr;
    problem_.kind = kind();
    problem_.interleaved = is_interleaved();
    problem_.repeat = repeat();
  }
  double bytes() const override { return input_bytes() + dy_.bytes() + out_.bytes(); }
  implementation tk() override {
    workspace_ = make_workspace(TK_OP_ACTIVATION_BACKWARD, &problem_);
    return {"tk", [this] {
              check(tk_activation_backward(&problem_, workspace_.data(),
                                           static_cast<std::size_t>(workspace_.bytes()), nullptr));
            }};
  }
  std::vector<tensor*> outputs() override { return out_.memories(); }

 private:
  pair_of_rows const& out() const override { return out_; }
  int outputs_of_row() const override { return is_gated() ? 2 : 1; }
  void reference(std::int64_t row, std::vector<double>& da,
                 std::vector<double>& db) const override {
    auto const a = input(row, 0), b = input(row, 1);
    std::vector<double> dy(a.size());
    dy_[0].read(dy.data(), row * width(), width());
    for (std::size_t j = 0; j < dy.size(); ++j) {
      da[j] = dy[j] * b[j] * test::activation_slope(kind(), a[j]);
      db[j] = dy[j] * test::activate(kind(), a[j]);
    }
  }

  pair_of_rows dy_, out_;
  tensor workspace_;
  DLTensor dl_[3]{};
  tk_activation_backward_problem problem_{};
};

suite_entry const forward{
    "activation-fwd", {"rows", "width", "act", "gated", "type"}, make<forward_benchmark>};
suite_entry const backward{
    "activation-bwd", {"rows", "width", "act", "gated", "type"}, make<backward_benchmark>};

}  // namespace
}  // namespace tk::bench
