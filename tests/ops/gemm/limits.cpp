// SPDX-License-Identifier: MIT
// How large a problem may be: extents, sizes, tiles. Queries only: nothing of such size is touched.
#include <limits>

#include "tests/ops/gemm/scene.hpp"

using namespace scene;

TEST_CASE("an extent just below 2^63 bytes") {
  gemm s;
  std::int64_t const most = (std::int64_t(1) << 62) - 1 - 8 * 16;  // elements of 2 bytes
  s.a.strides[0] = most;
  EXPECT_OK(tk_supports(gemm::op, s.get()));
  s.a.strides[0] = most + 1;
  CHECK(tk_supports(gemm::op, s.get()) == TK_BAD_STRIDE);
  s.a.strides[0] = -most;
  EXPECT_OK(tk_supports(gemm::op, s.get()));
  s.a.strides[0] = -most - 1;
  CHECK(tk_supports(gemm::op, s.get()) == TK_BAD_STRIDE);
}

TEST_CASE("the largest sizes are supported, larger ones are not") {
  constexpr std::int64_t most = (std::int64_t(1) << 31) - 1 - 1024;
  gemm s;
  make_plain(s);
  for (auto* t : {&s.a, &s.b, &s.d}) t->dl.strides = nullptr;
  std::int64_t* size[2] = {};
  SUBCASE("m") { size[0] = &s.a.shape[1], size[1] = &s.d.shape[1]; }
  SUBCASE("n") { size[0] = &s.b.shape[2], size[1] = &s.d.shape[2]; }
  SUBCASE("k") { size[0] = &s.a.shape[2], size[1] = &s.b.shape[1]; }
  *size[0] = *size[1] = most;
  EXPECT_OK(tk_supports(gemm::op, s.get()));
  *size[0] = *size[1] = most + 1;
  CHECK(tk_supports(gemm::op, s.get()) == TK_BAD_SHAPE);
}

TEST_CASE("windows that lie on each other are not copied to more memory than there is") {
  gemm s;
  make_plain(s);
  s.a.shape[1] = s.d.shape[1] = 1 << 24;
  s.a.shape[2] = s.b.shape[1] = 4096;
  s.b.dl.strides = s.d.dl.strides = nullptr;
  s.a.strides[1] = s.a.strides[2] = 1;  // rows of 4096 elements, one element apart
  std::size_t needed = 0;
  EXPECT_OK(tk_workspace(gemm::op, s.get(), &needed));
  CHECK(needed < std::size_t{1} << 30);
}

TEST_CASE("as many tiles as can be counted are supported") {
  constexpr std::int64_t most = (std::int64_t(1) << 31) - 1 - 1024;
  gemm s;
  make_plain(s);
  for (auto* t : {&s.a, &s.b, &s.d}) t->dl.strides = nullptr;
  auto const with = [&](std::int64_t batch, std::int64_t m) {
    s.a.shape[0] = s.d.shape[0] = batch;
    s.a.shape[1] = s.d.shape[1] = m;
    return tk_supports(gemm::op, s.get());
  };
  EXPECT_OK(with(most, 8));
  EXPECT_OK(with(most / 2, 128));
  CHECK(with(most / 2 + 1, 128) == TK_UNSUPPORTED);
  CHECK(says(tk_last_error(), "tk_supports: d has 1073741312 times 2 tiles"));
}

TEST_CASE("inputs whose elements lie on each other may have any number of them") {
  constexpr std::int64_t m = std::int64_t(1) << 20, k = std::int64_t(1) << 30;
  for (std::int64_t batch = 1; batch <= 1 << 16; batch *= 2) {
    CAPTURE(batch);
    gemm s;
    make_plain(s);
    s.a.shape = {batch, m, k};  // 2^50 to 2^66 elements in 2^31 bytes
    s.b.shape = {1, k, 1};
    s.d.shape = {batch, m, 1};
    s.a.strides = s.b.strides = {1, 1, 1};
    s.d.strides = {m, 1, 1};
    std::size_t needed = 0;
    EXPECT_OK(tk_workspace(gemm::op, s.get(), &needed));
    CHECK(needed < std::size_t(1) << 42);
  }
}
