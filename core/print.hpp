// SPDX-License-Identifier: MIT
// Shows tiles while a kernel is looked at, on the host and on emulated chips:
//   print(x)                    a register tile, a row, a column, a shared tile or vector, or an
//   print(x, "scores")          expression of tiles, as a matrix under a line that says what it is
//   print(x, "scores", {.rows = 8, .cols = 8})   a part of it, from (row, col) on
// Every lane of the worker calls, each when it comes by: nobody waits, so that a program runs in
// the same order as without. The text goes to stderr, in one piece. A shared tile is read by the
// worker's first lane: what others stored must be ordered before, as for any reader. On a card a
// program with print does not compile.
#pragma once
#include <algorithm>
#include <cstdio>
#include <limits>
#include <source_location>
#include <string>
#include <utility>
#include <vector>

#include "backends/gather.hpp"
#include "core/shared.hpp"

namespace tk {

// The part of a matrix that is printed, as far as it is there.
struct print_window {
  int row = 0, col = 0;
  int rows = std::numeric_limits<int>::max(), cols = std::numeric_limits<int>::max();
};

// values[rows][cols] with the numbers of rows and columns, four digits each.
inline std::string matrix_text(std::vector<float> const& values, int rows, int cols,
                               print_window const& part) {
  int const bottom = part.row + std::min(part.rows, rows - part.row);
  int const right = part.col + std::min(part.cols, cols - part.col);
  auto const number = [&](int row, int col) {
    char text[32];
    std::snprintf(text, sizeof text, "%.4g",
                  static_cast<double>(values[static_cast<std::size_t>(row * cols + col)]));
    return std::string(text);
  };
  std::size_t const label = std::to_string(std::max(bottom - 1, 0)).size();
  std::size_t width = std::to_string(std::max(right - 1, 0)).size();
  for (int row = part.row; row < bottom; ++row)
    for (int col = part.col; col < right; ++col) width = std::max(width, number(row, col).size());
  auto const add = [](std::string& line, std::string const& word, std::size_t size) {
    line.append(size - std::min(size, word.size()), ' ');
    line += word;
  };
  std::string text;
  add(text, "", label + 3);
  for (int col = part.col; col < right; ++col) add(text, std::to_string(col), width + 1);
  text += '\n';
  for (int row = part.row; row < bottom; ++row) {
    add(text, std::to_string(row), label + 2);
    text += ':';
    for (int col = part.col; col < right; ++col) add(text, number(row, col), width + 1);
    text += '\n';
  }
  return text;
}

// ---- what can be printed: its kind and element type, its shape, and the map of its lanes
template <class T> inline constexpr char const* element_name = nullptr;
template <> inline constexpr char const* element_name<float> = "float";
template <> inline constexpr char const* element_name<boolean> = "boolean";
template <> inline constexpr char const* element_name<bf16> = "bf16";
template <> inline constexpr char const* element_name<fp16> = "fp16";
template <> inline constexpr char const* element_name<fp8_e4m3> = "fp8_e4m3";
template <> inline constexpr char const* element_name<fp8_e5m2> = "fp8_e5m2";

template <class X> struct printed {  // an expression
  static constexpr int rows = X::rows, cols = X::cols;
  using map = be::fragment_map<rows, cols>;
  static std::string kind() { return "tile expression<"; }
};
template <class T, int R, int C> struct printed<reg_tile<T, R, C>> {
  static constexpr int rows = R, cols = C;
  using map = be::fragment_map<R, C>;
  static std::string kind() { return std::string("reg_tile<") + element_name<T> + ", "; }
};
template <int R> struct printed<reg_col<float, R>> {
  static constexpr int rows = R, cols = 1;
  using map = be::fragment_map<R, is_flat<R> ? 16 * be::worker_lanes : 16>;
  static std::string kind() { return "reg_col<float, "; }
};
template <class T, int R, int C> struct printed<reg_row<T, R, C>> {
  static constexpr int rows = 1, cols = C;
  using map = be::fragment_map<R, C>;
  static std::string kind() { return std::string("reg_row<") + element_name<T> + ", "; }
};
template <class T, int R, int C> struct printed<loaded_row<T, R, C>> : printed<reg_row<T, R, C>> {};
template <class T, int R, int C> struct printed<shared_tile<T, R, C>> {
  static constexpr int rows = R, cols = C;
  static std::string kind() { return std::string("shared_tile<") + element_name<T> + ", "; }
  static float value(shared_tile<T, R, C> const& x, int row, int col) {
    auto const* const at =
        reinterpret_cast<char const*>(&x) + shared_tile<T, R, C>::offset(row, col);
    return widen(*reinterpret_cast<T const*>(at));
  }
};
template <class T, int N> struct printed<shared_vec<T, N>> {
  static constexpr int rows = 1, cols = N;
  static std::string kind() { return std::string("shared_vec<") + element_name<T> + ", "; }
  static float value(shared_vec<T, N> const& x, int, int col) { return widen(x.data[col]); }
};

// A lane's elements, by their place in a matrix.
template <class D> std::vector<std::pair<int, float>> lane_values(D const& x, int lane) {
  using what = printed<D>;
  using map = typename what::map;
  std::vector<std::pair<int, float>> mine;
  operand<D> const from{x};
  map::for_each([&](int i, int r, int) {
    int const row = what::rows == 1 ? 0 : map::lane_row(lane) + map::row(r);
    int const col = what::cols == 1 ? 0 : map::lane_col(lane) + map::col(i);
    mine.emplace_back(row * what::cols + col, from.template element<map>(i, r));
  });
  return mine;
}

template <class X>
TK_DEVICE void print(
    [[maybe_unused]] X&& x, [[maybe_unused]] char const* name = "",
    [[maybe_unused]] print_window const& part = {},
    [[maybe_unused]] std::source_location where = std::source_location::current()) {
  using D = std::remove_cvref_t<X>;
  using what = printed<D>;
  static_assert(be::can_gather && sizeof(X) > 0,
                "print is for the host and for emulated chips: a card has no terminal");
  if constexpr (be::can_gather) {
    static_assert(used_where_written<X>::value);
    std::string file = where.file_name();
    file.erase(0, file.rfind('/') + 1);
    std::string const title = name + std::string(*name ? ": " : "") + what::kind() +
                              (what::rows == 1 ? "" : std::to_string(what::rows)) +
                              (what::rows == 1 || what::cols == 1 ? "" : ", ") +
                              (what::cols == 1 ? "" : std::to_string(what::cols)) + ">, " + file +
                              ":" + std::to_string(where.line()) + be::gathering_place();
    std::vector<float> all(static_cast<std::size_t>(what::rows * what::cols));
    if constexpr (requires { &what::value; }) {
      if (be::worker_lane() != 0) return;
      for (int i = 0; i < what::rows * what::cols; ++i)
        all[static_cast<std::size_t>(i)] = what::value(x, i / what::cols, i % what::cols);
    } else {
      if (!be::gather(title, lane_values<D>(x, be::worker_lane()), all, where)) return;
    }
    std::string const text = title + "\n" + matrix_text(all, what::rows, what::cols, part);
    std::fwrite(text.data(), 1, text.size(), stderr);
  }
}

}  // namespace tk
