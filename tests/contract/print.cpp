// SPDX-License-Identifier: MIT
// tk::print: the text of each kind of tile is that of the values it holds, wherever its lanes keep
// them; several prints of a worker come in order and whole.
#include <unistd.h>

#include <cstdio>
#include <string>

#include "core/print.hpp"
#include "core/vector.hpp"
#include "tests/contract/support.hpp"

namespace tk::test {
namespace {

// What the body writes to stderr.
template <class Body> std::string stderr_of(Body body) {
  std::FILE* const file = std::tmpfile();
  REQUIRE(file != nullptr);
  std::fflush(stderr);
  int const before = dup(2);
  dup2(fileno(file), 2);
  body();
  std::fflush(stderr);
  dup2(before, 2);
  close(before);
  std::fseek(file, 0, SEEK_END);
  std::string text(static_cast<std::size_t>(std::ftell(file)), '\0');
  std::rewind(file);
  CHECK(std::fread(text.data(), 1, text.size(), file) == text.size());
  std::fclose(file);
  return text;
}

constexpr int C = 32;

struct print_op : simple_op {
  struct args {
    float const* values;  // M x C
    int* ran;
    int cases;
  };
  struct scratch {
    shared_tile<bf16, M, C> tile;
    shared_vec<float, C> vector;
    shared_vec<boolean, C> flags;
  };
  template <class Context> static TK_DEVICE void compute(Context& c, args const& a, task const&) {
    if constexpr (be::can_gather) {
      reg_tile<float, M, C> x;
      read_tile(x, a.values, 0);
      print(x, "x");
      print(x * 2.f);
      reg_tile<bf16, M, C> const packed = cast<bf16>(x);
      print(packed, "packed", {.row = 8, .col = 4, .rows = 2, .cols = 3});
      print(packed, "two", {.rows = 2});
      print(row_max(x), "row_max");
      print(load_row<M, C>(a.values, C), "row");
      store(c.scratch.tile, cast<bf16>(x));
      if (c.w.leader())
        for (int i = 0; i < C; ++i) {
          c.scratch.vector.data[i] = a.values[i];
          c.scratch.flags.data[i] = {1};
        }
      c.w.sync();
      print(c.scratch.tile, "tile");
      print(c.scratch.vector, "vector");
      print(c.scratch.flags, "flags", {.cols = 2});
    }
    report(c, a, 0, 7);
  }
};

float value(int row, int col) { return whole(3, row * C + col, 50); }

// The text of a matrix, made another way: by right-aligned columns that a reader would write.
std::string expected(int rows, int cols, print_window const& part, float factor) {
  int const bottom = std::min(rows, part.rows == print_window{}.rows ? rows : part.row + part.rows);
  int const right = std::min(cols, part.cols == print_window{}.cols ? cols : part.col + part.cols);
  auto const x = [&](int row, int col) {
    if (cols > 1) return value(row, col) * factor;
    float most = value(row, 0);
    for (int c = 1; c < C; ++c) most = std::max(most, value(row, c));
    return most;
  };
  int width = static_cast<int>(std::to_string(right - 1).size());
  for (int row = part.row; row < bottom; ++row)
    for (int col = part.col; col < right; ++col)
      width = std::max(width, std::snprintf(nullptr, 0, "%d", static_cast<int>(x(row, col))));
  int const label = static_cast<int>(std::to_string(bottom - 1).size());
  char word[64];
  std::string text(static_cast<std::size_t>(label + 3), ' ');
  for (int col = part.col; col < right; ++col)
    std::snprintf(word, sizeof word, " %*d", width, col), text += word;
  text += "\n";
  for (int row = part.row; row < bottom; ++row) {
    std::snprintf(word, sizeof word, "  %*d:", label, row), text += word;
    for (int col = part.col; col < right; ++col)
      std::snprintf(word, sizeof word, " %*d", width, static_cast<int>(x(row, col))), text += word;
    text += "\n";
  }
  return text;
}

// The lines after `heading`'s up to the next heading, and that the heading goes on with this file.
std::string matrix_after(std::string const& text, std::string const& heading) {
  std::string const start = heading + ", print.cpp:";
  std::size_t const found = text.find(start);
  CAPTURE(heading);
  REQUIRE(found != std::string::npos);
  CHECK(text.find(start, found + 1) == std::string::npos);
  std::size_t from = text.find('\n', found + 1) + 1, to = from;
  while (to < text.size() && text[to] == ' ') to = text.find('\n', to) + 1;
  return text.substr(from, to - from);
}

TEST_CASE("print shows what a tile holds") {
  expect_cases const all(7);
  std::vector<float> values(at(M * C));
  for (int i = 0; i < M * C; ++i) values[at(i)] = value(i / C, i % C);
  device_array<float> const memory(values);
  std::string const text = stderr_of([&] { run<print_op>({memory.data(), nullptr, 1}); });
  if (!be::can_gather) return;
  CAPTURE(text);
  std::string const m = std::to_string(M);
  CHECK(matrix_after(text, "x: reg_tile<float, " + m + ", 32>") == expected(M, C, {}, 1));
  CHECK(matrix_after(text, "\ntile expression<" + m + ", 32>") == expected(M, C, {}, 2));
  print_window const part{8, 4, 2, 3};
  CHECK(matrix_after(text, "packed: reg_tile<bf16, " + m + ", 32>") == expected(M, C, part, 1));
  CHECK(matrix_after(text, "two: reg_tile<bf16, " + m + ", 32>") == expected(M, C, {.rows = 2}, 1));
  CHECK(matrix_after(text, "row_max: reg_col<float, " + m + ">") == expected(M, 1, {}, 1));
  CHECK(matrix_after(text, "row: reg_row<float, 32>") == expected(1, C, {}, 1));
  CHECK(matrix_after(text, "\ntile: shared_tile<bf16, " + m + ", 32>") == expected(M, C, {}, 1));
  CHECK(matrix_after(text, "vector: shared_vec<float, 32>") == expected(1, C, {}, 1));
  CHECK(matrix_after(text, "flags: shared_vec<boolean, 32>") == "     0 1\n  0: 1 1\n");
}

}  // namespace
}  // namespace tk::test
