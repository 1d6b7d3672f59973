// SPDX-License-Identifier: MIT
// Lines that describe cases (cases.hpp).
#include "benchmarks/cases.hpp"

#include <algorithm>
#include <charconv>
#include <sstream>
#include <stdexcept>

#include "benchmarks/benchmark.hpp"

namespace tk::bench {
namespace {

bench_case read_case(std::istringstream& words) {  // behind its first word
  bench_case x;
  words >> x.suite >> x.name;
  auto const& known = find_suite(x.suite).words;
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
  if (found != words.end()) {
    auto const& text = found->second;
    std::int64_t x = 0;
    auto const read = std::from_chars(text.data(), text.data() + text.size(), x);
    if (read.ec != std::errc{} || read.ptr != text.data() + text.size())
      throw std::runtime_error("case " + name + " has " + key + "=" + text +
                               ", which is no number");
    return x;
  }
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
    std::istringstream words(line);
    std::string kind;
    if (!(words >> kind)) continue;
    try {
      if (kind == "bench") cases.push_back(read_case(words));
      else if (kind != "quick" && kind != "full" && kind != "card")
        throw std::runtime_error("'" + kind + "' is neither bench nor a level of the tests");
    } catch (std::exception const& fault) {
      throw std::runtime_error("cases, line " + std::to_string(number) + ": " + fault.what());
    }
  }
  return cases;
}

}  // namespace tk::bench
