// SPDX-License-Identifier: MIT
// Promises kept at compile time: what is constant, trivial, of a certain size, callable or not.
#include <cstddef>
#include <type_traits>
#include <utility>

#include "backends/kernel.hpp"
#include "core/activation.hpp"
#include "core/product.hpp"
#include "core/schedule.hpp"
#include "core/status.hpp"
#include "tests/compile/program.hpp"

namespace tk::test {

// ---- elements are bits: copied as such, convertible in a constant expression, not by accident
static_assert(sizeof(bf16) == 2 && sizeof(fp16) == 2);
static_assert(sizeof(fp8_e4m3) == 1 && sizeof(fp8_e5m2) == 1);
static_assert(std::is_trivial_v<bf16> && std::is_trivial_v<fp16>);
static_assert(!std::is_convertible_v<bf16, float> && !std::is_convertible_v<float, bf16>);
static_assert(!std::is_convertible_v<bf16, fp16>);
static_assert(round_to<bf16>(1.f).bits == 0x3f80 && round_to<fp16>(-2.f).bits == 0xc000);
static_assert(tk::widen(fp16{0x3c01}) == 1.f + 0x1p-10f && tk::widen(bf16{1}) == 0x1p-133f);
static_assert(round_to<fp8_e4m3>(1e9f).bits == 0x7e && round_to<fp8_e5m2>(1e9f).bits == 0x7c);

// ---- what travels in a kernel's arguments is copied byte by byte
static_assert(std::is_trivially_copyable_v<tensor<bf16>>);
static_assert(std::is_trivially_copyable_v<be::source<bf16, R, 64>>);
static_assert(std::is_trivially_copyable_v<be::sink<float, R, 32>>);
static_assert(std::is_trivially_copyable_v<be::parked<R, 64>>);

// ---- tiles
static_assert(fragment_layout<be::fragment_map<R, 16>> && fragment_layout<be::fragment_map<R, 80>>);
static_assert(be::worker_rows % 16 == 0);
static_assert(be::worker_lanes == be::worker_warps * be::warp_lanes);
static_assert(std::is_trivially_default_constructible_v<tile<64>>);
static_assert(std::is_trivially_default_constructible_v<packed<64>>);
static_assert(sizeof(tile<64>) == 4 * std::size_t{R} * 64 / be::worker_lanes);
static_assert(sizeof(packed<64>) == 2 * std::size_t{R} * 64 / be::worker_lanes);
static_assert(sizeof(shared_tile<bf16, 16, 16>) >= 2 * 16 * 16);
static_assert(sizeof(shared_vec<float, 32>) == 4 * 32);
static_assert(alignof(shared_vec<bf16, 16>) >= 16);
static_assert(std::is_same_v<shared_tile<fp16, 32, 48>::element, fp16>);
static_assert(shared_tile<fp16, 32, 48>::rows == 32 && shared_tile<fp16, 32, 48>::cols == 48);

// ---- expressions: columns are computed at once, tiles are not; shapes follow operands
using column = reg_col<float, R>;
using row_values = row_of<float, 64>;
template <class X> X make();
using sum_of_tiles = decltype(make<tile<64>&>() + make<tile<64>&>());
static_assert(is_lazy<sum_of_tiles>);
static_assert(std::is_same_v<decltype(make<column&>() + make<column&>()), column>);
static_assert(std::is_same_v<decltype(1.f - make<column&>()), column>);
static_assert(std::is_same_v<decltype(exp2(make<column&>())), column>);
static_assert(std::is_same_v<decltype(row_max(make<tile<64>&>())), column>);
static_assert(std::is_same_v<decltype(row_sum(make<tile<64>&>() * make<column&>())), column>);
static_assert(is_lazy<decltype(make<tile<64>&>() * make<column&>())>);
static_assert(is_lazy<decltype(make<tile<64>&>() * make<row_values>())>);
static_assert(is_lazy<decltype(2.f * make<packed<64>&>())>);
static_assert(sum_of_tiles::rows == R && sum_of_tiles::cols == 64);
using outer_product = decltype(make<column&>() * make<row_values>());
static_assert(outer_product::rows == R && outer_product::cols == 64);
static_assert(std::is_same_v<decltype(cast<bf16>(make<tile<64>&>()))::type, bf16>);

// A lazy expression serves where it is written, not from a variable.
template <class A, class B>
concept addable = requires(A&& a, B&& b) { std::forward<A>(a) + std::forward<B>(b); };
static_assert(addable<sum_of_tiles, tile<64>&>);
static_assert(std::is_assignable_v<tile<64>&, sum_of_tiles>);
static_assert(!std::is_constructible_v<column, tile<64>>);
// Numbers do not turn into tiles by themselves, except where one is initialised.
static_assert(!addable<tile<64>&, char const*>);

// ---- block template
static_assert(block_op<program<int>>);
static_assert(!has_own<program<int>> && !has_common<program<int>>);
struct not_an_op {};
static_assert(!block_op<not_an_op>);

// ---- schedule and status are constants too
static_assert(ceil_div(0, 16) == 0 && ceil_div(1, 16) == 1 && ceil_div(16, 16) == 1);
static_assert(grouped(5, 3, 4, 2).row == 1 && grouped(5, 3, 4, 2).col == 2);
static_assert(static_cast<int>(status::ok) == 0);
static_assert(std::is_base_of_v<std::runtime_error, error>);

}  // namespace tk::test
