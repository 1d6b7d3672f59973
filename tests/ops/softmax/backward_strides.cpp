// SPDX-License-Identifier: MIT
// timeout: 600
// tk_softmax_backward on rows that lie in memory in every way the interface allows: slices, strides
// and addresses that no vector load or bulk copy takes, negative and zero strides; in place.
#include "tests/ops/softmax/softmax_backward.hpp"
#include "tests/support/row_tables.hpp"

namespace tk::test {
namespace {

using test_case = softmax_backward_case;
constexpr layout_of<test_case> operands[] = {&test_case::y_layout, &test_case::dy_layout,
                                             &test_case::dx_layout, &test_case::dbias_layout};

test_case begin(std::size_t turn) {
  test_case x{.shape = shape_of_turn(turn)};
  x.type = row_types[turn / 2 % 3];
  x.mask = turn % 4 == 1 ? TK_MASK_CAUSAL : TK_MASK_NONE;
  x.store_dbias = true;
  x.scale = turn % 3 ? 1 : -0.375f;
  return x;
}

// Under a mask what one row does not see would be what another does.
std::vector<test_case> shared() {
  std::vector<test_case> cases;
  add_layouts<test_case>(cases, std::span(operands).first<2>(), shared_layouts(), begin);
  for (auto& x : cases) x.mask = TK_MASK_NONE;
  return cases;
}

// dx and dbias on y and on dy, in either order, in rows of one tile and of several.
std::vector<test_case> in_place() {
  std::vector<test_case> cases;
  using enum row_place;
  constexpr row_place pairs[][2] = {{on_first, apart},     {on_second, apart},
                                    {on_first, on_second}, {on_second, on_first},
                                    {apart, on_first},     {apart, on_second}};
  for (auto const& [dx, dbias] : pairs)
    for (std::int64_t const width : widths_in_place)
      for (auto const& way : places_for_two())
        for (bool const store : {true, false}) {
          if (!store && dbias != apart) continue;
          auto x = begin(7 * cases.size());
          x.shape.width = width;
          x.store_dbias = store;
          x.dx_place = dx, x.dbias_place = dbias;
          x.y_layout = x.dy_layout = way;
          cases.push_back(x);
        }
  return cases;
}

TEST_CASE("softmax's backward with odd layouts") {
  run_table("backward_layouts", layout_table(operands, begin));
}
TEST_CASE("softmax's backward of rows that lie on each other") {
  run_table("backward_shared", shared());
}
TEST_CASE("softmax's backward in place") { run_table("backward_in_place", in_place()); }
TEST_CASE("softmax's backward on far rows") {
  if (test_level() == level::card) run_table("backward_far_rows", far_table(operands, begin));
}

}  // namespace
}  // namespace tk::test
