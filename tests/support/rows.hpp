// SPDX-License-Identifier: MIT
// Under TK_REPEAT_ROW a row has the same bits whatever rows are beside it, and however many
// multiprocessors share the work. An op computes a large problem once, then smaller ones that read
// some of the same rows, and compares the bits; an emulated chip computes it again with other
// multiprocessors.
#pragma once
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "tests/support/launch.hpp"
#include "tests/support/suite.hpp"

namespace tk::test {

// How many rows the small problems have: all to 300 and powers of two on a card; elsewhere those
// around the sizes of tiles.
inline std::vector<std::int64_t> row_counts(std::int64_t most) {
  std::vector<std::int64_t> all{1, 2, 7, 16, 17, 64, 65, 100, 129, 300};
  if (test_level() == level::full) all.insert(all.end(), {3, 31, 32, 33, 63, 127, 128, 193, 257});
  if (test_level() == level::card)
    for (std::int64_t m = 1; m <= 300; ++m) all.push_back(m);
  for (std::int64_t m = 512; test_level() != level::quick && m <= 8192; m *= 2) all.push_back(m);
  std::erase_if(all, [&](std::int64_t m) { return m > most; });
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

// Launches the operands' problem once, with TK_REPEAT_ROW. Results are in the memories of its
// outputs; those of inputs must have been uploaded.
template <class Operands> std::string launch_by_rows(Operands& x, world& outputs) {
  for (auto& m : outputs.memories())
    if (m.use() == role::output) m.upload();
  auto const wrong = with_problem(x, [](auto op, auto const* given) -> std::string {
    auto problem = *given;
    problem.repeat = TK_REPEAT_ROW;
    std::size_t bytes = 0;
    if (auto const s = tk_workspace(op.number, &problem, &bytes); s != TK_OK)
      return failed("tk_workspace", s);
    memory workspace(static_cast<std::int64_t>(bytes), 16, role::output, 1);
    std::memset(workspace.image(), 0, std::min<std::size_t>(bytes, TK_COUNTER_BYTES));
    workspace.upload();
    auto const s = op.call(&problem, bytes ? workspace.device() : nullptr, bytes, nullptr);
    be::rt::synchronize();
    return s == TK_OK ? "" : failed("launch", s);
  });
  for (auto& m : outputs.memories())
    if (m.use() == role::output) m.download();
  return wrong;
}

inline void upload_inputs(world& w) {
  for (auto& m : w.memories())
    if (m.use() == role::input) m.upload();
}

// body() with 3 multiprocessors, and but in quick with 1 and 7: an emulated chip reads their number
// at each launch. Other chips have those that they have.
template <class Body> void with_other_multiprocessors(Body const& body) {
  if (!std::strstr(tk_version(), "emulated")) return;
  constexpr char const* name = "TK_EMULATE_MULTIPROCESSORS";
  char const* const given = std::getenv(name);
  std::string const before = given ? given : "";  // empty: as if not given
  for (char const* const count : {"3", "1", "7"}) {
    setenv(name, count, 1);
    INFO(std::string(count), " multiprocessors");
    body();
    if (test_level() == level::quick) break;
  }
  setenv(name, before.c_str(), 1);
}

// Counts rows whose bits differ; row numbers are those of the tensors, last dimension apart.
class row_comparison {
 public:
  void add(tensor const& few, std::int64_t row, tensor const& many, std::int64_t same) {
    ++compared_;
    if (std::memcmp(few.result_row(row), many.result_row(same), few.cols() * bytes_of(few.type)) ==
        0)
      return;
    if (++differ_ == 1) first_ = "row " + std::to_string(row);
  }
  // "" or what differs.
  std::string wrong() const {
    if (compared_ == 0) return "no row was compared";
    return differ_ == 0 ? ""
                        : std::to_string(differ_) + " of " + std::to_string(compared_) +
                              " rows have other bits than in the large problem, first " + first_;
  }
  std::int64_t compared() const { return compared_; }

 private:
  std::int64_t compared_ = 0, differ_ = 0;
  std::string first_;
};

// The first and the last m of `most` rows, for each m: compare_part(large, first, m, rows) computes
// them alone, gives "" or what differs, and adds the rows that it compared.
template <class Operands, class ComparePart>
void compare_small_problems(Operands& large, std::int64_t most, ComparePart const& compare_part) {
  upload_inputs(large.memories);
  REQUIRE(launch_by_rows(large, large.memories) == "");
  std::int64_t rows = 0, problems = 0;
  for (std::int64_t const m : row_counts(most))
    for (std::int64_t const first : {std::int64_t{0}, most - m}) {
      if (first > 0 && m > 300) continue;
      auto const wrong = compare_part(large, first, m, rows);
      CHECK_MESSAGE(wrong == "", describe(large.of) << "\n  rows " << first << " ... "
                                                    << first + m - 1 << " alone: " << wrong);
      ++problems;
    }
  with_other_multiprocessors([&] {
    auto const wrong = compare_part(large, std::int64_t{0}, most, rows);
    CHECK_MESSAGE(wrong == "", describe(large.of) << "\n  all rows: " << wrong);
    ++problems;
  });
  std::printf("%s: %lld rows of %lld small problems\n", describe(large.of).c_str(),
              static_cast<long long>(rows), static_cast<long long>(problems));
}

}  // namespace tk::test
