// SPDX-License-Identifier: MIT
// Suites embedding-fwd, rows of a table of v by the numbers of tokens, and embedding-bwd, the sums
// of dy by row of the table. Bound by memory: flops is 0, the rate is that of the bytes that must
// move: each row that is named once, or dy once and the whole of dtable, and numbers. The oracle
// copies rows, or sums some (all, if that is cheap) in fp64. The forward is exact; a right gradient
// is off by one rounding, the floor, and by what fp32 sums of up to 2^13 pieces commit: 2^-15 of it
// is more.
#include <algorithm>
#include <cmath>
#include <set>
#include <stdexcept>

#include "benchmarks/benchmark.hpp"
#include "ops/embedding/embedding.h"
#include "ops/embedding/embedding_backward.h"

namespace tk::bench {
namespace {

constexpr std::int64_t whole_elements = std::int64_t{1} << 24;  // of the oracle, under a second
constexpr std::int64_t sampled_rows = 256;
constexpr double fp32_sums_error = 0x1p-15;

class token_benchmark : public benchmark {
 public:
  explicit token_benchmark(bench_case const& x)
      : v_(x.number("v")),
        tokens_(x.number("tokens")),
        d_(x.number("d")),
        type_(parse_dtype(x.get("type", "bf16"))),
        repeat_(x.repeat) {
    make_ids(x.get("ids", "uniform"));
  }

  dtype type() const override { return type_; }
  double flops() const override { return 0; }
  tk_repeat repeat() const override { return repeat_; }
  peer_list peers() override { return {}; }

 protected:
  std::int64_t v() const { return v_; }
  std::int64_t tokens() const { return tokens_; }
  std::int64_t d() const { return d_; }
  std::vector<std::int32_t> const& id_of() const { return id_of_; }
  tensor const& ids() const { return ids_; }

 private:
  void make_ids(std::string const& kind) {
    if (kind != "uniform" && kind != "zipf" && kind != "one")
      throw std::runtime_error("'" + kind + "' are no ids: uniform, zipf or one");
    std::uint64_t state = 1;
    for (std::int64_t i = 0; i < tokens_; ++i) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      double const share = static_cast<double>(state >> 11) * 0x1p-53,
                   size = static_cast<double>(v_);
      double const at = kind == "zipf" ? std::pow(size + 1, share) - 1 : share * size;
      bool const is_one = kind == "one" && i % 2 == 0;
      id_of_.push_back(is_one ? static_cast<std::int32_t>(v_ / 2) : static_cast<std::int32_t>(at));
    }
    ids_ = tensor(id_of_);
  }

  std::int64_t v_, tokens_, d_;
  dtype type_;
  tk_repeat repeat_;
  std::vector<std::int32_t> id_of_;
  tensor ids_;
};

class forward_benchmark final : public token_benchmark {
 public:
  explicit forward_benchmark(bench_case const& x) : token_benchmark(x) {
    table_ = tensor(type(), {v(), d()});
    table_.fill_normal(1);
    y_ = tensor(type(), {tokens(), d()});
    tensor const* const tensors[] = {&table_, &ids(), &y_};
    for (std::size_t i = 0; i < 3; ++i) dl_[i] = tensors[i]->dl();
    problem_.size = sizeof problem_;
    problem_.table = &dl_[0];
    problem_.ids = &dl_[1];
    problem_.y = &dl_[2];
    problem_.repeat = repeat();
  }

  double bytes() const override {
    std::set<std::int32_t> const named(id_of().begin(), id_of().end());
    auto const rows = static_cast<std::int64_t>(named.size());
    return static_cast<double>(rows * d() * bytes_of(type()) + ids().bytes() + y_.bytes());
  }
  implementation tk() override {
    workspace_ = make_workspace(TK_OP_EMBEDDING, &problem_);
    return {"tk", [this] {
              check(tk_embedding(&problem_, workspace_.data(),
                                 static_cast<std::size_t>(workspace_.bytes()), nullptr));
            }};
  }
  std::vector<tensor*> outputs() override { return {&y_}; }
  verdict compare() override {
    auto const got = y_.copy_out();
    auto const size = static_cast<std::size_t>(d());
    std::vector<double> row(size), expected(size);
    deviation all;
    for (auto const i : sample_rows(tokens(), std::max(whole_elements / d(), sampled_rows))) {
      tensor::read(row.data(), type(), got.data() + i * d() * bytes_of(type()), d());
      table_.read(expected.data(), id_of()[static_cast<std::size_t>(i)] * d(), d());
      for (std::size_t j = 0; j < size; ++j) all.add(type(), row[j], expected[j]);
    }
    return {all_finite(type(), got) ? all.relative() : HUGE_VAL, 0};
  }

 private:
  tensor table_, y_, workspace_;
  DLTensor dl_[3]{};
  tk_embedding_problem problem_{};
};

class backward_benchmark final : public token_benchmark {
 public:
  explicit backward_benchmark(bench_case const& x) : token_benchmark(x) {
    dy_ = tensor(type(), {tokens(), d()});
    dy_.fill_normal(1);
    dtable_ = tensor(parse_dtype(x.get("dtable", x.get("type", "bf16"))), {v(), d()});
    tensor const* const tensors[] = {&dy_, &ids(), &dtable_};
    for (std::size_t i = 0; i < 3; ++i) dl_[i] = tensors[i]->dl();
    problem_.size = sizeof problem_;
    problem_.dy = &dl_[0];
    problem_.ids = &dl_[1];
    problem_.dtable = &dl_[2];
    problem_.repeat = repeat();
  }

  double bytes() const override {
    return static_cast<double>(dy_.bytes() + ids().bytes() + dtable_.bytes());
  }
  implementation tk() override {
    workspace_ = make_workspace(TK_OP_EMBEDDING_BACKWARD, &problem_);
    return {"tk", [this] {
              check(tk_embedding_backward(&problem_, workspace_.data(),
                                          static_cast<std::size_t>(workspace_.bytes()), nullptr));
            }};
  }
  std::vector<tensor*> outputs() override { return {&dtable_}; }
  // Some rows, and those of the first tokens, which have sums.
  verdict compare() override {
    if (expected_.empty()) compute_reference();
    auto const got = dtable_.copy_out();
    auto const to = dtable_.type();
    std::vector<double> row(static_cast<std::size_t>(d()));
    deviation all;
    for (std::size_t i = 0; i < picked_.size(); ++i) {
      tensor::read(row.data(), to, got.data() + picked_[i] * d() * bytes_of(to), d());
      for (std::size_t j = 0; j < row.size(); ++j)
        all.add(to, row[j], expected_[i * row.size() + j]);
    }
    return {all_finite(to, got) ? all.relative() : HUGE_VAL,
            1.1 * all.relative_floor() + fp32_sums_error};
  }

 private:
  void compute_reference() {
    picked_ = sample_rows(v(), std::max(whole_elements / d(), sampled_rows));
    auto const first = std::min(tokens(), sampled_rows);
    picked_.insert(picked_.end(), id_of().begin(), id_of().begin() + first);
    std::sort(picked_.begin(), picked_.end());
    picked_.erase(std::unique(picked_.begin(), picked_.end()), picked_.end());
    std::vector<std::vector<std::int64_t>> named(static_cast<std::size_t>(v()));
    for (std::int64_t i = 0; i < tokens(); ++i)
      named[static_cast<std::size_t>(id_of()[static_cast<std::size_t>(i)])].push_back(i);
    expected_.assign(picked_.size() * static_cast<std::size_t>(d()), 0);
    parallel_for(static_cast<std::int64_t>(picked_.size()), [&](std::int64_t i) {
      std::vector<double> row(static_cast<std::size_t>(d()));
      auto const picked = static_cast<std::size_t>(picked_[static_cast<std::size_t>(i)]);
      for (auto const token : named[picked]) {
        dy_.read(row.data(), token * d(), d());
        for (std::int64_t j = 0; j < d(); ++j)
          expected_[static_cast<std::size_t>(i * d() + j)] += row[static_cast<std::size_t>(j)];
      }
    });
  }

  tensor dy_, dtable_, workspace_;
  DLTensor dl_[3]{};
  tk_embedding_backward_problem problem_{};
  std::vector<std::int64_t> picked_;
  std::vector<double> expected_;
};

suite_entry const forward{
    "embedding-fwd", {"v", "tokens", "d", "ids", "type"}, make<forward_benchmark>};
suite_entry const backward{
    "embedding-bwd", {"v", "tokens", "d", "ids", "type", "dtable"}, make<backward_benchmark>};

}  // namespace
}  // namespace tk::bench
