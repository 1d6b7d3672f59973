// SPDX-License-Identifier: MIT
// The problems to run. They stand beside the sizes of an op's tests, tests/ops/<folder>/sizes.txt,
// in lines of their own, whose words that file describes:
//   bench SUITE NAME WORD=VALUE WORD=VALUE ... [quick]
// '#' begins a comment. Lines that begin with another word are the tests'. Cases marked quick are
// for CPUs and run with --quick alone; the others run without it.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "ops/tk_base.h"

namespace tk::bench {

struct bench_case {
  std::string suite, name;
  bool quick = false;
  std::map<std::string, std::string> words;  // key=value
  tk_repeat repeat = TK_REPEAT_RUN;          // of the problem that tk is given

  std::string get(std::string const& key, std::string const& otherwise) const;
  std::int64_t number(std::string const& key, std::int64_t otherwise = -1) const;  // -1: must be
};

// Throws std::runtime_error, naming the line, for a suite that is none and for words that it has
// no meaning for.
std::vector<bench_case> read_cases(std::string const& text);

}  // namespace tk::bench
