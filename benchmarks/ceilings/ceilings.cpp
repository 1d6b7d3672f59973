// SPDX-License-Identifier: MIT
// Suite ceilings: what the card itself can do, measured like any case. Copies inside device memory,
// products of shared tiles, exponentials in registers (rates.hpp). The last two repeat their work
// until a call takes about `target_ms`, so that the launch does not count; data are random, because
// a chip at its power cap multiplies zeros faster.
#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "backends/runtime.hpp"
#include "benchmarks/benchmark.hpp"
#include "benchmarks/ceilings/rates.hpp"
#include "benchmarks/stopwatch.hpp"

namespace tk::bench {
namespace {

constexpr double target_ms = be::rt::dl_device_type == kDLCPU ? 50 : 1;
constexpr int tasks_each = 4;  // per multiprocessor

class copy_ceiling final : public benchmark {
 public:
  explicit copy_ceiling(std::int64_t size)
      : from_(dtype::fp32, {size / 4}), to_(dtype::fp32, {size / 4}) {
    be::rt::fill(from_.data(), pattern, static_cast<std::size_t>(from_.bytes()));
    be::rt::fill(to_.data(), 0, static_cast<std::size_t>(to_.bytes()));
  }
  dtype type() const override { return dtype::fp32; }
  double flops() const override { return 0; }
  double bytes() const override { return 2.0 * static_cast<double>(from_.bytes()); }
  std::vector<tensor*> outputs() override { return {&to_}; }
  implementation tk() override {
    return {"tk", device_copy(to_.data(), from_.data(), static_cast<std::size_t>(from_.bytes()))};
  }
  peer_list peers() override { return {}; }
  verdict compare() override {
    auto const copied = to_.copy_out();
    bool const same = std::all_of(copied.begin(), copied.end(),
                                  [](std::byte x) { return x == std::byte{pattern}; });
    return {same ? 0 : HUGE_VAL, 0};
  }

 private:
  static constexpr int pattern = 0x5a;
  tensor from_, to_;
};

// An op that repeats: its output, and how often makes a call of about target_ms.
class repeated : public benchmark {
 public:
  explicit repeated(rate_shape const& shape)
      : shape_(shape),
        tasks_(tasks_each * be::rt::multiprocessors()),
        out_(dtype::fp32, {std::int64_t{tasks_} * shape.workers * shape.rows}) {}
  double bytes() const override { return 0; }
  std::vector<tensor*> outputs() override { return {&out_}; }
  peer_list peers() override { return {}; }
  implementation tk() override {
    for (repeats_ = 16;; repeats_ *= 2) {
      double ms = HUGE_VAL;  // the least of three: the first loads the code
      for (int i = 0; i < 3; ++i) {
        be::rt::event start, end;
        start.record(nullptr);
        launch();
        end.record(nullptr);
        be::rt::synchronize();
        ms = std::min(ms, static_cast<double>(milliseconds(start, end)));
      }
      if (ms < target_ms / 2 && repeats_ < most_repeats) continue;
      repeats_ = std::clamp(static_cast<int>(repeats_ * target_ms / ms), 1, most_repeats);
      return {"tk", [this] { launch(); }};
    }
  }

 protected:
  // Products truncate each of depth / 16 partial sums a repeat; this many lose 1 %.
  static constexpr int most_repeats = 1 << 16;
  virtual void launch() = 0;
  float* out() const { return static_cast<float*>(out_.data()); }
  double elements() const { return static_cast<double>(out_.size()) * shape_.cols * repeats_; }
  // Row r of all workers of a task against wanted[r], the same for each task.
  deviation against(std::vector<double> const& wanted) const {
    auto const bytes = out_.copy_out();
    std::vector<double> row(static_cast<std::size_t>(out_.size()));
    tensor::read(row.data(), dtype::fp32, bytes.data(), out_.size());
    deviation all;
    for (std::size_t i = 0; i < row.size(); ++i)
      all.add(dtype::fp32, row[i], wanted[i % wanted.size()]);
    return all;
  }

  rate_shape shape_;
  int tasks_, repeats_ = 1;

 private:
  tensor out_;
};

class product_ceiling final : public repeated {
 public:
  product_ceiling()
      : repeated(shape_of_products()),
        a_(dtype::bf16, {rows(), shape_.depth}),
        b_(dtype::bf16, {shape_.depth, shape_.cols}) {
    a_.fill_normal(1);
    b_.fill_normal(2);
  }
  dtype type() const override { return dtype::bf16; }
  double flops() const override { return 2 * elements() * shape_.depth; }
  verdict compare() override {
    std::vector<double> row(static_cast<std::size_t>(shape_.cols)), b;
    for (int k = 0; k < shape_.depth; ++k) {
      b_.read(row.data(), std::int64_t{k} * shape_.cols, shape_.cols);
      double sum = 0;
      for (double x : row) sum += x;
      b.push_back(sum);
    }
    std::vector<double> a(b.size()), wanted;
    for (std::int64_t r = 0; r < rows(); ++r) {
      a_.read(a.data(), r * shape_.depth, shape_.depth);
      double sum = 0;
      for (std::size_t k = 0; k < a.size(); ++k) sum += a[k] * b[k];
      wanted.push_back(sum * repeats_);
    }
    // A sum's additions each lose up to a unit of 2^-24 of it; the cols of a row's sum may cancel.
    double const additions = static_cast<double>(repeats_) * shape_.depth / 8;
    return {against(wanted).relative(), (additions + shape_.cols) * 0x1p-24};
  }

 private:
  std::int64_t rows() const { return std::int64_t{shape_.workers} * shape_.rows; }
  void launch() override { launch_products(a_.data(), b_.data(), out(), tasks_, repeats_); }
  tensor a_, b_;
};

class exponential_ceiling final : public repeated {
 public:
  exponential_ceiling() : repeated(shape_of_exponentials()) {}
  dtype type() const override { return dtype::fp32; }
  double flops() const override { return elements(); }
  verdict compare() override {
    double x = 0;
    for (int i = 0; i < repeats_; ++i) x = std::exp2(-x);
    // The fixed point takes back 4/9 of each step's error; exp2 is good to some units of 2^-23.
    return {against({x * shape_.cols}).relative(), 1e-5};
  }

 private:
  void launch() override { launch_exponentials(out(), tasks_, repeats_); }
};

std::unique_ptr<benchmark> make_ceiling(bench_case const& x) {
  if (auto const size = x.number("copy", 0); size > 0) return std::make_unique<copy_ceiling>(size);
  std::string const rate = x.get("rate", "");
  if (rate == "products") return std::make_unique<product_ceiling>();
  if (rate == "exp2") return std::make_unique<exponential_ceiling>();
  throw std::runtime_error("a ceiling is copy=BYTES, rate=products or rate=exp2");
}

suite_entry const entry{"ceilings", {"copy", "rate"}, make_ceiling};

}  // namespace
}  // namespace tk::bench
