// SPDX-License-Identifier: MIT
// Kokkos' views and execution spaces as arguments of tk_ops.hpp, header-only; Kokkos 3.4 and later.
//   Kokkos::View<tk::bf16 const**, Kokkos::LayoutRight> a(...);
//   tk::gemm(a, b, d, {.bias = bias, .bias_kind = TK_BIAS_ROW,
//                      .stream = Kokkos::DefaultExecutionSpace()});
// Views    rank 1 to 4, LayoutRight or LayoutStride (sub-views), any strides that tk_ops.h takes;
//          a view of const elements is no output. The view must outlive the call's work.
// Elements float, tk::bf16, tk::fp16, and Kokkos' half_t and bhalf_t where they have 16 bits; bool
//          for masks.
// Memory   that of the view's space. Where the library's device can reach it the call works; else
//          it is refused, as TK_BAD_DEVICE, and nothing is copied.
// Streams  a space's own; null for a space of the CPU, whose calls are over when they return.
#pragma once
#include <array>
#include <type_traits>

#include <Kokkos_Core.hpp>

#include "core/element.hpp"
#include "ops/tk_ops.hpp"

namespace tk {
namespace detail {

template <class T> struct kokkos_element {
  static constexpr bool known = false;
};
template <int Code, std::uint8_t Bits> struct kokkos_element_of {
  static constexpr bool known = true;
  static constexpr DLDataType type{Code, Bits, 1};
};
template <> struct kokkos_element<float> : kokkos_element_of<kDLFloat, 32> {};
template <> struct kokkos_element<fp16> : kokkos_element_of<kDLFloat, 16> {};
template <> struct kokkos_element<bf16> : kokkos_element_of<kDLBfloat, 16> {};
template <> struct kokkos_element<bool> : kokkos_element_of<TK_DL_BOOL, 8 * sizeof(bool)> {};
// Where Kokkos has no 16-bit type of its own, these are float, or, before 3.5, not there.
#if defined(KOKKOS_HALF_T_IS_FLOAT)
#if !KOKKOS_HALF_T_IS_FLOAT
template <>
struct kokkos_element<Kokkos::Experimental::half_t> : kokkos_element_of<kDLFloat, 16> {};
#endif
#endif
#if defined(KOKKOS_BHALF_T_IS_FLOAT)
#if !KOKKOS_BHALF_T_IS_FLOAT
template <>
struct kokkos_element<Kokkos::Experimental::bhalf_t> : kokkos_element_of<kDLBfloat, 16> {};
#endif
#endif

// An execution space says what it is by the stream it has.
template <class Space> constexpr DLDeviceType kokkos_device_type() {
  if constexpr (requires(Space const& x) { x.cuda_stream(); }) return kDLCUDA;
  else if constexpr (requires(Space const& x) { x.hip_stream(); }) return kDLROCM;
  else if constexpr (Kokkos::SpaceAccessibility<Kokkos::DefaultHostExecutionSpace,
                                                typename Space::memory_space>::accessible)
    return kDLCPU;
  else return kDLExtDev;  // which no library is for
}
template <class Space> int kokkos_device_id() {
  if constexpr (requires(Space const& x) { x.cuda_device(); }) return Space().cuda_device();
  else if constexpr (requires(Space const& x) { x.hip_device(); }) return Space().hip_device();
  else return 0;
}

template <class Memory> DLDevice kokkos_device() {
  using device = Kokkos::DefaultExecutionSpace;
  using cpu = Kokkos::DefaultHostExecutionSpace;
  int const library = tk_device_type();
  if (library == kDLCPU && Kokkos::SpaceAccessibility<cpu, Memory>::accessible) return {kDLCPU, 0};
  if (library == kokkos_device_type<device>() &&
      Kokkos::SpaceAccessibility<device, Memory>::accessible)
    return {kokkos_device_type<device>(), kokkos_device_id<device>()};
  using owner = typename Memory::execution_space;
  return {kokkos_device_type<owner>(), kokkos_device_id<owner>()};
}

}  // namespace detail

template <class... X> struct foreign_tensor<Kokkos::View<X...>> {
  using view = Kokkos::View<X...>;
  using element = typename view::non_const_value_type;
  using layout = typename view::array_layout;
  static constexpr bool is_const = std::is_const_v<typename view::value_type>;

  static tensor_view describe(view const& x) {
    constexpr int rank = view::rank;
    static_assert(rank >= 1 && rank <= 4, "tk takes views of rank 1 to 4");
    static_assert(
        std::is_same_v<layout, Kokkos::LayoutRight> || std::is_same_v<layout, Kokkos::LayoutStride>,
        "tk takes views in LayoutRight or LayoutStride: the last dimension is contiguous");
    static_assert(
        detail::kokkos_element<element>::known,
        "tk takes views of float, of 16-bit half_t and bhalf_t, of tk::fp16, tk::bf16 and bool");
    std::array<std::int64_t, rank> shape, strides;
    for (int i = 0; i < rank; ++i) {
      auto const at = static_cast<std::size_t>(i);
      shape[at] = static_cast<std::int64_t>(x.extent(at));
      strides[at] = static_cast<std::int64_t>(x.stride(at));
    }
    return {x.data(), detail::kokkos_element<element>::type, shape, strides,
            detail::kokkos_device<typename view::memory_space>()};
  }
};

template <class Space>
  requires Kokkos::is_execution_space<Space>::value
struct foreign_stream<Space> {
  static void* handle(Space const& x) {
    if constexpr (requires { x.cuda_stream(); }) return x.cuda_stream();
    else if constexpr (requires { x.hip_stream(); }) return x.hip_stream();
    else return nullptr;
  }
};

}  // namespace tk
