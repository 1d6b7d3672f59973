// SPDX-License-Identifier: MIT
// core/column_totals.hpp: sums over no row, over fewer than its workers and over many, of columns
// that end within a chunk, within a tile and at its end, to fp32 and rounded once to 16 bits. What
// lies between the rows and after them is NaN.
#include "core/column_totals.hpp"

#include "tests/contract/support.hpp"

namespace tk::test {

template <class T> void check_totals(int rows, int width) {
  using op = column_totals<T>;
  int const stride = (width + 3) / 4 * 4 + 4;
  std::vector<float> from(at((rows + 5) * stride), NAN);
  auto expected = untouched<T>(at(width + 9));
  for (int c = 0; c < width; ++c) {
    float sum = 0;
    for (int r = 0; r < rows; ++r)
      sum += from[at(r * stride + c)] = whole(3, std::int64_t{r} * width + c, 50);
    expected[at(c)] = to<T>(sum);
  }
  device_array<float> const dfrom(from);
  device_array<T> const out(untouched<T>(at(width + 9)));
  be::launch<op>({dfrom.data(), rows, width, stride, out.data()}, nullptr);
  be::rt::synchronize();
  CAPTURE(rows);
  CAPTURE(width);
  check_same(out.read(), expected);
  ++cases_ran;
}

TEST_CASE("sums of columns") {
  // The last so wide that blocks have several tasks.
  int const numbers[] = {0, 1, 5, 200},
            widths[] = {1, 1000, 1024, 3000, tasks_at_least(9) * column_totals<float>::N - 3};
  expect_cases const counted(2 * 4 * 5);
  for (int const rows : numbers)
    for (int const width : widths) {
      check_totals<float>(rows, width);
      check_totals<bf16>(rows, width);
    }
}

}  // namespace tk::test
