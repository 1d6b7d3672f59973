// SPDX-License-Identifier: MIT
// packed_rows: blocks counted through all sequences, each of which finds its own rows: every row of
// a sequence is one block's, and nobody writes what lies in front of them, behind, or past the most
// rows of one.
#include "core/packed_rows.hpp"
#include "tests/contract/support.hpp"

namespace tk::test {

struct marked_rows : simple_op {
  struct args {
    int cases;
    packed_rows rows;
    int height;
    int* block_of;  // [total]
    int* ran;
  };
  template <class Context> static TK_DEVICE void compute(Context& c, args const& a, task const& t) {
    auto const& x = a.rows;
    int const s = x.sequence_of(t.index, a.height), n = x.length(s),
              first = (t.index - x.first_block(s, a.height)) * a.height;
    if (first >= 0)
      for (int i = first + c.w.lane(); i < n && i < first + a.height; i += be::worker_lanes)
        a.block_of[x.start(s) + i] = t.index;
    report(c, a, t.index);
  }
};

TEST_CASE("every row of packed sequences is one block's") {
  constexpr int total = 90;
  struct given {
    std::vector<std::int32_t> starts;
    int most = total;
  };
  std::vector<given> const all{{{0, 90}},
                               {{0, 16, 32, 90}},
                               {{0, 0, 1, 1, 18, 18, 33, 89, 90, 90, 90}},
                               {{7, 24, 24, 88}},
                               {{90, 90, 90}},
                               {{0, 0, 0}},
                               {{-5, 30, 95, 2000000000}},
                               {{0, 50, 90}, 33}};
  std::vector<std::pair<given, int>> cases;
  for (auto const& x : all)
    for (int const height : {1, 16, 64, 128}) cases.push_back({x, height});
  expect_cases const counted(8 * (90 + 5 + 1 + 0) + 4 * 26);  // of heights, and of sequences
  for (auto const& [x, height] : cases) {
    device_array<std::int32_t> const starts(x.starts);
    device_array<int> const block_of(std::vector<int>(total, -1));
    packed_rows const rows{starts.data(), static_cast<int>(x.starts.size()) - 1, total, x.most};
    run<marked_rows>({rows.blocks(height), rows, height, block_of.data(), nullptr});
    // A sequence has the place of its first row, counted in blocks, and one more than the one
    // before.
    std::vector<int> expected(total, -1);
    for (int s = 0; s < rows.sequences; ++s) {
      int const first = std::clamp(x.starts[at(s)], 0, total),
                end = std::min(std::clamp(x.starts[at(s + 1)], 0, total), first + x.most);
      for (int row = first; row < end; ++row)
        expected[at(row)] = first / height + s + (row - first) / height;
    }
    check_same(block_of.read(), expected);
  }
}

}  // namespace tk::test
