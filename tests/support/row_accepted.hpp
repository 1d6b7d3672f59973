// SPDX-License-Identifier: MIT
// What no op that goes row by row may refuse: every type and rank, nothing to do, the largest
// sizes. Of a scene (tests/support/scene.hpp) whose tensors are [2, 3, 20].
#pragma once
#include "tests/support/scene.hpp"

namespace scene {

// Results are written where of(scene), some of its tensors, are of any one type.
template <class Scene, class Of> void check_types(Of of) {
  for (auto const type : {bf16, fp16, fp32}) {
    Scene s;
    for (tensor* t : of(s)) t->dl.dtype = type;
    auto const before = s.arena.content();
    EXPECT_OK(call(s));
    CHECK(s.arena.content() != before);
  }
}

// Nothing is written where one of the first `axes` sizes of all tensors is 0 and they have no data.
template <class Scene, class Of> void check_nothing(std::size_t axes, Of of) {
  for (std::size_t axis = 0; axis < axes; ++axis) {
    Scene s;
    for (tensor* t : of(s)) {
      t->shape[axis] = 0;
      t->dl.data = nullptr;
    }
    auto const before = s.arena.content();
    EXPECT_OK(Scene::call(s.get()));
    CHECK(s.arena.content() == before);
  }
}

// [20], [2, 20], [2, 1, 20] or [2, 1, 1, 20], one behind the other.
inline void set_rank(tensor& t, int rank) {
  t.dl.ndim = rank;
  t.dl.strides = nullptr;
  t.shape.fill(1);
  if (rank > 1) t.shape[0] = 2;
  t.shape[static_cast<std::size_t>(rank) - 1] = 20;
}

// All of these tensors have these sizes; those of fewer dimensions have the first ones.
template <class Scene>
tk_status supports(Scene& s, std::vector<tensor*> const& all,
                   std::vector<std::int64_t> const& sizes) {
  for (auto* t : all) {
    t->dl.strides = nullptr;
    std::copy(sizes.begin(), sizes.end(), t->shape.begin());
  }
  return tk_supports(Scene::op, s.get());
}

// Rows and columns of up to 2^31 - 65537, and as many rows in all.
inline constexpr std::int64_t most_rows_or_columns = (std::int64_t(1) << 31) - 65537;
template <class Scene, class Of> void check_largest(Of of) {
  constexpr auto most = most_rows_or_columns;
  Scene s;
  auto const are_supported = [&](std::vector<std::int64_t> const& sizes) {
    return supports(s, of(s), sizes);
  };
  EXPECT_OK(are_supported({1, 3, most}));
  CHECK(are_supported({1, 3, most + 1}) == TK_UNSUPPORTED);
  EXPECT_OK(are_supported({1, most, 20}));
  CHECK(are_supported({1, most + 1, 20}) == TK_UNSUPPORTED);
  EXPECT_OK(are_supported({most, 1, 20}));
  CHECK(are_supported({most + 1, 1, 20}) == TK_UNSUPPORTED);
  EXPECT_OK(are_supported({1 << 10, 1 << 20, 1}));
  CHECK(are_supported({1 << 11, 1 << 20, 1}) == TK_UNSUPPORTED);
  CHECK(are_supported({1 << 30, 1 << 30, 1}) == TK_UNSUPPORTED);
}

}  // namespace scene
