// SPDX-License-Identifier: MIT
// ops/tk_kokkos.hpp: what views become, what may be an output, refusals, streams.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdlib>
#include <type_traits>
#include <vector>

#include "ops/tk_kokkos.hpp"

namespace {

using Kokkos::LayoutRight;
using Kokkos::LayoutStride;
using Kokkos::View;
using host = Kokkos::HostSpace;
using tk::bf16;
using tk::fp16;

using numbers = std::vector<std::int64_t>;
numbers shape(DLTensor const* x) { return {x->shape, x->shape + x->ndim}; }
numbers strides(DLTensor const* x) { return {x->strides, x->strides + x->ndim}; }

template <class T> constexpr bool reads = std::is_convertible_v<T, tk::tensor_view>;
template <class T> constexpr bool writes = std::is_convertible_v<T, tk::output_view>;
static_assert(reads<View<float**, LayoutRight>> && writes<View<float**, LayoutRight>>);
static_assert(reads<View<float const**, LayoutRight>> && !writes<View<float const**, LayoutRight>>);
static_assert(std::is_convertible_v<Kokkos::DefaultExecutionSpace, tk::stream>);
static_assert(!reads<int> && !std::is_convertible_v<int, tk::stream>);

struct with_kokkos {
  with_kokkos() {
    if (!Kokkos::is_initialized()) {
      Kokkos::initialize();
      std::atexit([] { Kokkos::finalize(); });
    }
  }
};

}  // namespace

TEST_CASE_FIXTURE(with_kokkos, "a view is described as it is") {
  View<bf16****, LayoutRight, host> const x("x", 2, 3, 5, 7);
  tk::tensor_view const y = x;
  CHECK(y.get()->data == x.data());
  CHECK(shape(y.get()) == numbers{2, 3, 5, 7});
  CHECK(strides(y.get()) == numbers{105, 35, 7, 1});
  CHECK(y.get()->dtype.code == kDLBfloat);
  CHECK(y.get()->dtype.bits == 16);
  CHECK(y.get()->device.device_type == kDLCPU);

  tk::tensor_view const z =
      View<fp16 const*, LayoutRight, host>(View<fp16*, LayoutRight, host>("z", 4));
  CHECK(shape(z.get()) == numbers{4});
  CHECK(z.get()->dtype.code == kDLFloat);
  CHECK(z.get()->dtype.bits == 16);

  tk::tensor_view const mask = View<bool**, LayoutRight, host>("mask", 2, 3);
  CHECK(mask.get()->dtype.code == TK_DL_BOOL);
  CHECK(mask.get()->dtype.bits == 8);
}

TEST_CASE_FIXTURE(with_kokkos, "a sub-view keeps its strides") {
  View<float***, LayoutRight, host> const x("x", 4, 6, 10);
  auto const part = Kokkos::subview(x, Kokkos::ALL(), 2, Kokkos::make_pair(3, 8));
  tk::tensor_view const y = part;
  CHECK(y.get()->data == &x(0, 2, 3));
  CHECK(shape(y.get()) == numbers{4, 5});
  CHECK(strides(y.get()) == numbers{60, 1});
  CHECK(y.get()->dtype.bits == 32);
}

TEST_CASE_FIXTURE(with_kokkos, "Kokkos' own 16-bit types, where it has them") {
  using half = Kokkos::Experimental::half_t;
  tk::tensor_view const y = View<half**, LayoutRight, host>("y", 2, 2);
  CHECK(y.get()->dtype.code == kDLFloat);
  CHECK(y.get()->dtype.bits == 8 * sizeof(half));
}

TEST_CASE_FIXTURE(with_kokkos, "views and a space are arguments") {
  View<bf16**, LayoutRight, host> a("a", 2, 3), b("b", 3, 2);
  View<float**, LayoutRight, host> d("d", 2, 2);
  View<float*, LayoutRight, host> bias("bias", 2);
  Kokkos::deep_copy(a, tk::round_to<bf16>(1));
  Kokkos::deep_copy(b, tk::round_to<bf16>(2));
  bias(1) = 10;
  Kokkos::DefaultHostExecutionSpace const on;
  tk::gemm(a, b, d, {.bias = bias, .bias_kind = TK_BIAS_ROW, .stream = on});
  CHECK(d(0, 0) == 6);
  CHECK(d(1, 1) == 16);

  View<float**, LayoutRight, host> y("y", 2, 2);
  tk::norm(d, y, {.weight = bias, .kind = TK_NORM_RMS, .eps = 0, .stream = on});  // rows (6, 16)
  CHECK(y(0, 0) == 0);
  CHECK(std::abs(y(1, 1) - 160 / std::sqrt(146.f)) < 1e-4f);
}

TEST_CASE_FIXTURE(with_kokkos, "a last dimension with gaps is refused in words") {
  View<float***, LayoutRight, host> const x("x", 2, 2, 2);
  View<bf16**, LayoutRight, host> const a("a", 2, 2);
  auto const gaps = Kokkos::subview(x, Kokkos::ALL(), Kokkos::ALL(), 1);
  auto const refused = tk::gemm_refusal(a, a, gaps);
  REQUIRE(refused);
  CHECK(refused->code() == tk::status::bad_stride);
}

TEST_CASE("a space of the CPU has no stream") {
  CHECK(tk::stream().handle() == nullptr);
  CHECK(tk::foreign_stream<Kokkos::DefaultHostExecutionSpace>::handle({}) == nullptr);
}
