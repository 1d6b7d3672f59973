// SPDX-License-Identifier: MIT
// Reads the text of cases.txt: one case a line, '#' begins a comment.
#include "benchmarks/cases.hpp"

#include <algorithm>
#include <set>
#include <sstream>
#include <stdexcept>

namespace tk::bench {
namespace {

std::set<std::string> const& known_words(std::string const& suite) {
  static std::map<std::string, std::set<std::string>> const words{
      {"ceilings", {"copy", "rate"}},
      {"gemm", {"mnk", "trans", "type", "out", "batch", "bias", "act"}},
      {"attention", {"b", "n", "h", "d", "nk", "hk", "mask", "layout", "type"}},
      {"norm", {"rows", "width", "kind", "residual", "type"}}};
  auto const found = words.find(suite);
  if (found == words.end()) throw std::runtime_error("no suite is called '" + suite + "'");
  return found->second;
}

bench_case read_case(std::istringstream words) {
  bench_case x;
  words >> x.suite >> x.name;
  auto const& known = known_words(x.suite);
  for (std::string word; words >> word;) {
    auto const sign = word.find('=');
    if (word == "quick") {
      x.quick = true;
    } else if (sign != std::string::npos && known.count(word.substr(0, sign))) {
      x.words[word.substr(0, sign)] = word.substr(sign + 1);
    } else {
      throw std::runtime_error("'" + word + "' means nothing in suite " + x.suite);
    }
  }
  return x;
}

}  // namespace

std::string bench_case::get(std::string const& key, std::string const& otherwise) const {
  auto const found = words.find(key);
  return found == words.end() ? otherwise : found->second;
}

std::int64_t bench_case::number(std::string const& key, std::int64_t otherwise) const {
  auto const found = words.find(key);
  if (found != words.end()) return std::stoll(found->second);
  if (otherwise < 0) throw std::runtime_error("case " + name + " lacks " + key + "=");
  return otherwise;
}

std::vector<bench_case> read_cases(std::string const& text) {
  std::vector<bench_case> cases;
  std::istringstream lines(text);
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    line.resize(std::min(line.size(), line.find('#')));
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    try {
      cases.push_back(read_case(std::istringstream(line)));
    } catch (std::exception const& fault) {
      throw std::runtime_error("cases, line " + std::to_string(number) + ": " + fault.what());
    }
  }
  return cases;
}

}  // namespace tk::bench
