// SPDX-License-Identifier: MIT
// See options.hpp.
#include "benchmarks/attention/options.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>
#include <stdexcept>

namespace tk::bench {
namespace {

// 4096,512x8: one of 4096, then eight of 512.
std::vector<std::int64_t> parse_lengths(std::string const& text) {
  std::vector<std::int64_t> lengths;
  std::istringstream parts(text);
  for (std::string part; std::getline(parts, part, ',');) {
    std::int64_t n = 0, count = 1;
    char sign = 'x';
    std::istringstream numbers(part);
    numbers >> n;
    if (!numbers.eof()) numbers >> sign >> count;
    if (numbers.fail() || !numbers.eof() || sign != 'x' || n < 1 || count < 1)
      throw std::runtime_error("'" + part + "' in lens is neither a length nor LENGTHxCOUNT");
    lengths.insert(lengths.end(), static_cast<std::size_t>(count), n);
  }
  if (lengths.empty()) throw std::runtime_error("lens names no length");
  return lengths;
}

// Slopes as in the paper of ALiBi (Press, Smith and Lewis, 2021): 2^(-8 (head + 1) / heads).
std::vector<float> alibi_slopes(std::int64_t heads) {
  std::vector<float> slopes;
  for (std::int64_t h = 1; h <= heads; ++h)
    slopes.push_back(std::exp2(-8 * static_cast<float>(h) / static_cast<float>(heads)));
  return slopes;
}

}  // namespace

bool is_packed(bench_case const& x) { return x.words.count("lens") > 0; }

forward_problem problem_of(bench_case const& x) {
  std::vector<std::int64_t> queries, keys;
  if (is_packed(x)) {
    if (x.words.count("b") || x.words.count("n") || x.words.count("nk"))
      throw std::runtime_error("lens says what b, n and nk would");
    queries = keys = parse_lengths(x.get("lens", ""));
  } else {
    auto const b = static_cast<std::size_t>(x.number("b"));
    queries.assign(b, x.number("n"));
    keys.assign(b, x.number("nk", x.number("n")));
  }
  std::int64_t const h = x.number("h"), d = x.number("d");
  forward_problem y{queries, keys, h, x.number("hk", h), d, 1 / std::sqrt(static_cast<float>(d))};
  y.causal = parse_mask(x.get("mask", "none")) == TK_MASK_CAUSAL;
  y.window_left = x.words.count("left") ? x.number("left") : -1;
  y.softcap = static_cast<float>(x.number("softcap", 0));
  if (x.number("alibi", 0) != 0) y.alibi = alibi_slopes(h);
  y.dropout = static_cast<int>(x.number("dropout", 0));
  return y;
}

case_options::case_options(forward_problem const& x, bool packed)
    : any_(packed || x.window_left >= 0 || x.softcap != 0 || !x.alibi.empty() || x.dropout != 0) {
  options_.size = sizeof options_;
  options_.has_window_left = x.window_left >= 0;
  options_.window_left = static_cast<int>(std::max<std::int64_t>(0, x.window_left));
  options_.softcap = x.softcap;
  options_.dropout = static_cast<float>(x.dropout) / 256;
  if (!x.alibi.empty()) {
    alibi_ = tensor(x.alibi);
    alibi_dl_ = alibi_.dl();
    options_.alibi = &alibi_dl_;
  }
  if (packed) bind_sequences(x.nq);
}

void case_options::bind_sequences(std::vector<std::int64_t> const& lengths) {
  std::vector<std::int32_t> starts{0};
  for (std::int64_t const n : lengths)
    starts.push_back(starts.back() + static_cast<std::int32_t>(n));
  starts_ = tensor(starts);
  starts_dl_ = starts_.dl();
  options_.q_starts = options_.k_starts = &starts_dl_;
  options_.max_nq = options_.max_nk = *std::max_element(lengths.begin(), lengths.end());
}

}  // namespace tk::bench
