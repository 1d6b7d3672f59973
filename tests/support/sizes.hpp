// SPDX-License-Identifier: MIT
// The list of sizes of an op, tests/ops/<folder>/sizes.txt: lines of
//   LEVEL NAME=VALUE NAME=VALUE ...
// where # begins a comment. A level takes its own lines and those of the levels before it: quick,
// full, card. Lines that begin with "bench" are the benchmarks' (benchmarks/cases.hpp). Programs
// start in the root of the repository; TK_TEST_SIZES is another folder in place of tests/ops.
#pragma once
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/support/suite.hpp"

namespace tk::test {

struct size_line {
  level from;
  std::map<std::string, std::int64_t> values;

  std::int64_t number(std::string const& name) const {
    auto const at = values.find(name);
    if (at == values.end()) throw std::runtime_error("a line of sizes lacks " + name);
    return at->second;
  }
  std::int64_t number(std::string const& name, std::int64_t otherwise) const {
    return values.contains(name) ? values.at(name) : otherwise;
  }
};

// The lines of the op's list that this run's level takes. Throws what is wrong with the file.
inline std::vector<size_line> read_sizes(std::string const& op) {
  char const* folder = std::getenv("TK_TEST_SIZES");
  std::string const path = std::string(folder ? folder : "tests/ops") + "/" + op + "/sizes.txt";
  std::ifstream in(path);
  if (!in) throw std::runtime_error("cannot read " + path);
  std::vector<size_line> lines;
  for (std::string text; std::getline(in, text);) {
    std::istringstream words(text.substr(0, text.find('#')));
    std::string word;
    if (!(words >> word) || word == "bench") continue;
    size_line line{level_of(word), {}};
    while (words >> word) {
      auto const equals = word.find('=');
      if (equals == std::string::npos) throw std::runtime_error(path + ": '" + word + "' has no =");
      line.values[word.substr(0, equals)] = std::stoll(word.substr(equals + 1));
    }
    if (line.from <= test_level()) lines.push_back(line);
  }
  return lines;
}

}  // namespace tk::test
