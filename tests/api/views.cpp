// SPDX-License-Identifier: MIT
// Views of the C++ interface on their own.
#include "ops/tk_base.hpp"

#include <doctest/doctest.h>

#include <utility>
#include <vector>

TEST_CASE("a copy of a view has its own sizes and strides") {
  tk::tensor_view copy;
  CHECK(copy.get() == nullptr);
  {
    float x = 0;
    tk::tensor_view const first(&x, tk::dl_fp32, {2, 3}, {5, 1}, 4);
    copy = first;
    CHECK(copy.get()->shape != first.get()->shape);
    CHECK(copy.get()->data == &x);
  }
  tk::tensor_view const moved = std::move(copy);
  auto const& t = *moved.get();
  CHECK(t.ndim == 2);
  CHECK(t.shape[0] == 2);
  CHECK(t.shape[1] == 3);
  CHECK(t.strides[0] == 5);
  CHECK(t.strides[1] == 1);
  CHECK(t.byte_offset == 0);
  CHECK(t.device.device_id == 4);
  CHECK(t.device.device_type == tk_device_type());
  CHECK(tk::tensor_view(nullptr, tk::dl_fp16, {2, 3}).get()->strides == nullptr);
  DLTensor given{};
  CHECK(tk::tensor_view(&given).get() == &given);
  std::vector<std::int64_t> const shape{7};
  CHECK(tk::tensor_view(nullptr, tk::dl_fp16, shape).get()->shape[0] == 7);
}
