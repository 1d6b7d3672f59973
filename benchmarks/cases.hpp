// SPDX-License-Identifier: MIT
// The problems to run: lines of cases.txt, which describes its own form.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace tk::bench {

struct bench_case {
  std::string suite, name;
  bool quick = false;
  std::map<std::string, std::string> words;  // key=value

  std::string get(std::string const& key, std::string const& otherwise) const;
  std::int64_t number(std::string const& key, std::int64_t otherwise = -1) const;  // -1: must be
};

// Throws std::runtime_error, naming the line, for a word that cases.txt does not describe.
std::vector<bench_case> read_cases(std::string const& text);

}  // namespace tk::bench
