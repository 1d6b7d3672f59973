// SPDX-License-Identifier: MIT
// See oracle.hpp.
#include "benchmarks/attention/oracle.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "tests/support/philox.hpp"

namespace tk::bench {
namespace {

constexpr std::int64_t whole_products = std::int64_t{1} << 28;  // under a second
constexpr std::int64_t sampled_rows = 128;
constexpr double lse_limit = 0x1p-15;

std::vector<std::int64_t> starts_of(std::vector<std::int64_t> const& lengths) {
  std::vector<std::int64_t> starts(lengths.size() + 1, 0);
  std::partial_sum(lengths.begin(), lengths.end(), starts.begin() + 1);
  return starts;
}

double dot(std::vector<double> const& x, std::vector<double> const& y) {
  std::array<double, 8> sum{};  // d is a multiple of 8
  for (std::size_t l = 0; l < x.size(); l += 8)
    for (std::size_t u = 0; u < 8; ++u) sum[u] += x[l + u] * y[l + u];
  return std::accumulate(sum.begin(), sum.end(), 0.0);
}

}  // namespace

tk_mask parse_mask(std::string const& name) {
  if (name == "none") return TK_MASK_NONE;
  if (name == "causal") return TK_MASK_CAUSAL;
  throw std::runtime_error("'" + name + "' is no mask: none or causal");
}

forward_problem::range forward_problem::seen(std::size_t sequence, std::int64_t row) const {
  std::int64_t const n = nk[sequence], opposite = row + n - nq[sequence];
  return {window_left < 0 ? 0 : std::max<std::int64_t>(0, opposite - window_left),
          causal ? std::min(n, opposite + 1) : n};
}

double forward_problem::kept(std::int64_t sequence, std::int64_t head, std::int64_t row,
                             std::int64_t key) const {
  if (dropout == 0) return 1;
  unsigned const byte = test::random_byte_of_plane(0, 0, sequence * hq + head, row, key);
  return byte < static_cast<unsigned>(dropout) ? 0 : 256.0 / (256 - dropout);
}

double forward_problem::pairs() const {
  double sum = 0;
  for (std::size_t s = 0; s < nq.size(); ++s)
    for (std::int64_t i = 0; i < nq[s]; ++i) sum += static_cast<double>(seen(s, i).size());
  return sum;
}

forward_oracle::forward_oracle(forward_problem problem, tensor const& q, tensor const& k,
                               tensor const& v)
    : problem_(std::move(problem)),
      q_(q),
      k_(k),
      v_(v),
      q_starts_(starts_of(problem_.nq)),
      k_starts_(starts_of(problem_.nk)) {}

// Its lse is -inf.
bool forward_oracle::some_row_is_blind() const {
  for (std::size_t s = 0; s < problem_.nq.size(); ++s)
    if (problem_.nq[s] > 0 && problem_.seen(s, 0).size() == 0) return true;
  return false;
}

void forward_oracle::choose() {
  auto const &nq = problem_.nq, &nk = problem_.nk;
  std::int64_t const hq = problem_.hq;
  std::int64_t const longest = nk.empty() ? 0 : *std::max_element(nk.begin(), nk.end());
  std::int64_t const affordable = whole_products / std::max<std::int64_t>(1, longest * problem_.d);
  std::int64_t const wanted = std::max(affordable, sampled_rows);
  bool const all = hq * q_starts_.back() <= wanted;
  auto const sequences = static_cast<std::int64_t>(nq.size());
  for (std::int64_t s = 0; s < sequences; ++s) {
    std::int64_t const n = nq[static_cast<std::size_t>(s)];
    for (std::int64_t i : sample_rows(n, all ? n : wanted / sequences))
      for (std::int64_t h = 0; h < (all ? hq : 1); ++h) {
        auto const at = static_cast<std::int64_t>(rows_.size());
        rows_.push_back({s, all ? h : at * 7 % hq, i, 0, {}});
      }
  }
  parallel_for(static_cast<std::int64_t>(rows_.size()),
               [&](std::int64_t r) { compute(rows_[static_cast<std::size_t>(r)]); });
}

void forward_oracle::read(std::vector<double>& to, tensor const& x, std::int64_t row,
                          std::int64_t head) const {
  auto const& strides = x.strides();
  std::size_t const axis = strides.size() - 3;
  x.read(to.data(), row * strides[axis] + head * strides[axis + 1], problem_.d);
}

void forward_oracle::compute(reference& x) const {
  auto const sequence = static_cast<std::size_t>(x.sequence);
  auto const [first, last] = problem_.seen(sequence, x.row);
  std::int64_t const opposite = x.row + problem_.nk[sequence] - problem_.nq[sequence];
  std::int64_t const key_head = x.head / (problem_.hq / problem_.hk);
  std::vector<double> q(static_cast<std::size_t>(problem_.d)), y(q.size()), scores;
  x.o.assign(q.size(), 0);
  x.lse = -std::numeric_limits<double>::infinity();
  read(q, q_, q_starts_[sequence] + x.row, x.head);
  for (std::int64_t j = first; j < last; ++j) {
    read(y, k_, k_starts_[sequence] + j, key_head);
    double s = dot(q, y) * static_cast<double>(problem_.scale);
    double const cap = problem_.softcap;
    if (cap > 0) s = cap * std::tanh(s / cap);
    if (!problem_.alibi.empty())
      s -= static_cast<double>(problem_.alibi[static_cast<std::size_t>(x.head)]) *
           static_cast<double>(std::abs(opposite - j));
    scores.push_back(s);
  }
  if (scores.empty()) return;
  double const top = *std::max_element(scores.begin(), scores.end());
  double weight = 0;
  for (std::int64_t j = first; j < last; ++j) {
    double const p = std::exp(scores[static_cast<std::size_t>(j - first)] - top);
    read(y, v_, k_starts_[sequence] + j, key_head);
    double const kept = p * problem_.kept(x.sequence, x.head, x.row, j);
    for (std::size_t l = 0; l < y.size(); ++l) x.o[l] += kept * y[l];
    weight += p;
  }
  for (double& z : x.o) z /= weight;
  x.lse = top + std::log(weight);
}

verdict forward_oracle::compare(tensor const& o, tensor const& lse, place_of_lse const& place) {
  if (rows_.empty()) choose();
  std::vector<std::byte> const values = o.copy_out(), sums = lse.copy_out();
  std::vector<double> row(static_cast<std::size_t>(problem_.d));
  deviation all;
  double worst_lse = 0;
  for (reference const& x : rows_) {
    std::int64_t const at = q_starts_[static_cast<std::size_t>(x.sequence)] + x.row;
    tensor::read(row.data(), o.type(),
                 values.data() + (at * problem_.hq + x.head) * problem_.d * bytes_of(o.type()),
                 problem_.d);
    for (std::size_t l = 0; l < row.size(); ++l) all.add(o.type(), row[l], x.o[l]);
    double got;
    tensor::read(&got, dtype::fp32,
                 sums.data() + place(x.sequence, x.head, x.row) * bytes_of(dtype::fp32), 1);
    if (got == x.lse) continue;
    double const off = std::fabs(got - x.lse) / std::max(1.0, std::fabs(x.lse));
    worst_lse = off < HUGE_VAL ? std::max(worst_lse, off) : HUGE_VAL;  // NaN is as bad
  }
  bool const finite =
      all_finite(o.type(), values) && (some_row_is_blind() || all_finite(lse.type(), sums));
  double const limit = 2 * all.relative_floor();
  double const error = worst_lse <= lse_limit
                           ? all.relative()
                           : std::max(all.relative(), limit * worst_lse / lse_limit);
  return {finite ? error : HUGE_VAL, limit};
}

}  // namespace tk::bench
