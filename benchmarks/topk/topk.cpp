// SPDX-License-Identifier: MIT
// Suite topk: the k largest numbers of each row, and their columns. Bound by memory: flops is 0,
// the rate is that of the bytes that must move, x once and the results. Results are exact: the
// oracle sorts some rows (all, if that is cheap), and any other number or column is an error.
#include <algorithm>
#include <cstring>
#include <numeric>

#include "benchmarks/benchmark.hpp"
#include "ops/topk/topk.h"

namespace tk::bench {
namespace {

constexpr std::int64_t whole_elements = std::int64_t{1} << 24;  // of the oracle, some seconds
constexpr std::int64_t sampled_rows = 64;

class topk_benchmark final : public benchmark {
 public:
  explicit topk_benchmark(bench_case const& x)
      : rows_(x.number("rows")),
        width_(x.number("width")),
        k_(x.number("k")),
        type_(parse_dtype(x.get("type", "bf16"))),
        repeat_(x.repeat),
        x_(type_, {rows_, width_}),
        indices_(dtype::int32, {rows_, k_}) {
    x_.fill_normal(1);
    if (x.number("indices_only", 0) == 0) values_ = tensor(type_, {rows_, k_});
    problem_.size = sizeof problem_;
    problem_.x = given(x_, 0);
    problem_.values = given(values_, 1);
    problem_.indices = given(indices_, 2);
    problem_.repeat = repeat_;
  }

  dtype type() const override { return type_; }
  double flops() const override { return 0; }
  double bytes() const override {
    return static_cast<double>(x_.bytes() + indices_.bytes() + (values_ ? values_.bytes() : 0));
  }
  tk_repeat repeat() const override { return repeat_; }
  implementation tk() override {
    workspace_ = make_workspace(TK_OP_TOPK, &problem_);
    return {"tk", [this] {
              check(tk_topk(&problem_, workspace_.data(),
                            static_cast<std::size_t>(workspace_.bytes()), nullptr));
            }};
  }
  peer_list peers() override { return {}; }
  std::vector<tensor*> outputs() override {
    std::vector<tensor*> all{&indices_};
    if (values_) all.push_back(&values_);
    return all;
  }

  verdict compare() override {
    auto const columns = indices_.copy_out();
    auto const values = values_ ? values_.copy_out() : std::vector<std::byte>{};
    auto const rows = sample_rows(rows_, std::max(whole_elements / width_, sampled_rows));
    std::vector<int> wrong(rows.size());
    parallel_for(static_cast<std::int64_t>(rows.size()), [&](std::int64_t i) {
      auto const n = static_cast<std::size_t>(i);
      wrong[n] = wrong_of(rows[n], columns, values);
    });
    return {static_cast<double>(std::accumulate(wrong.begin(), wrong.end(), 0)), 0};
  }

 private:
  DLTensor const* given(tensor const& t, int i) {
    if (!t) return nullptr;
    dl_[i] = t.dl();
    return &dl_[i];
  }
  // How many results of a row are not those of the oracle.
  int wrong_of(std::int64_t row, std::vector<std::byte> const& columns,
               std::vector<std::byte> const& values) const {
    std::vector<double> x(static_cast<std::size_t>(width_)), found(static_cast<std::size_t>(k_));
    x_.read(x.data(), row * width_, width_);
    if (values_) tensor::read(found.data(), type_, values.data() + row * k_ * bytes_of(type_), k_);
    std::vector<std::int32_t> order(x.size());
    std::iota(order.begin(), order.end(), 0);
    std::partial_sort(order.begin(), order.begin() + k_, order.end(), [&](int a, int b) {
      double const p = x[static_cast<std::size_t>(a)], q = x[static_cast<std::size_t>(b)];
      return p > q || (p == q && a < b);
    });
    int wrong = 0;
    for (std::int64_t i = 0; i < k_; ++i) {
      auto const n = static_cast<std::size_t>(i);
      std::int32_t column = 0;
      std::memcpy(&column, columns.data() + (row * k_ + i) * 4, sizeof column);
      wrong += column != order[n] || (values_ && found[n] != x[static_cast<std::size_t>(order[n])]);
    }
    return wrong;
  }

  std::int64_t rows_, width_, k_;
  dtype type_;
  tk_repeat repeat_;
  tensor x_, values_, indices_, workspace_;
  DLTensor dl_[3]{};
  tk_topk_problem problem_{};
};

suite_entry const entry{
    "topk", {"rows", "width", "k", "indices_only", "type"}, make<topk_benchmark>};

}  // namespace
}  // namespace tk::bench
