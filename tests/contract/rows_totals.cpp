// SPDX-License-Identifier: MIT
// core/column_totals.hpp: sums over no row, over fewer than its workers and over many, of columns
// that end within a chunk, within a tile and at its end, to fp32 and rounded once to 16 bits, of
// one matrix and of two. What lies between the rows and after them is NaN.
#include <deque>

#include "core/column_totals.hpp"

#include "tests/contract/support.hpp"

namespace tk::test {

template <class T> void check_totals(int rows, int width, int count, int step) {
  using op = column_totals<T>;
  int const stride = (width + 3) / 4 * 4 + 4;
  typename op::args a{{}, count, rows, width, stride};
  std::deque<device_array<float>> from;
  std::deque<device_array<T>> out;
  std::vector<std::vector<T>> expected;
  for (int which = 0; which < count; ++which) {
    std::vector<float> numbers(at((rows + 5) * stride), NAN);
    expected.push_back(untouched<T>(at(width * step + 9)));
    for (int c = 0; c < width; ++c) {
      float sum = 0;
      for (int r = 0; r < rows; ++r)
        sum += numbers[at(r * stride + c)] = whole(3 + which, std::int64_t{r} * width + c, 50);
      expected.back()[at(c * step)] = to<T>(sum);
    }
    from.emplace_back(numbers);
    out.emplace_back(untouched<T>(at(width * step + 9)));
  }
  for (int which = 0; which < count; ++which)
    a.of[which] = {from[at(which)].data(), out[at(which)].data(), step};
  be::launch<op>(a, nullptr);
  be::rt::synchronize();
  CAPTURE(rows);
  CAPTURE(width);
  CAPTURE(count);
  CAPTURE(step);
  for (int which = 0; which < count; ++which)
    check_same(out[at(which)].read(), expected[at(which)]);
  ++cases_ran;
}

TEST_CASE("sums of columns") {
  // The last so wide that blocks have several tasks.
  int const numbers[] = {0, 1, 5, 200},
            widths[] = {1, 1000, 1024, 3000, tasks_at_least(9) * column_totals<float>::columns - 3};
  expect_cases const counted(2 * 3 * 4 * 5);
  for (int const rows : numbers)
    for (int const width : widths) {
      for (int const count : {1, 2, 5}) {
        int const step = count < 5 ? 1 : 3;
        check_totals<float>(rows, width, count, step);
        check_totals<bf16>(rows, width, count, step);
      }
    }
}

}  // namespace tk::test
