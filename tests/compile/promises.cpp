// SPDX-License-Identifier: MIT
// Promises kept at compile time: what is constant, trivial, of a certain size, callable or not.
#include <cstddef>
#include <type_traits>
#include <utility>

#include "backends/kernel.hpp"
#include "core/activation.hpp"
#include "core/partial_tiles.hpp"
#include "core/product.hpp"
#include "core/reduce.hpp"
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
static_assert(std::is_trivially_copyable_v<partial_tiles<R, 64>>);

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

// ---- expressions, in device code: columns are computed at once, tiles are not; shapes follow the
// operands; a lazy expression serves where it is written
using column = reg_col<float, R>;
template <class A, class B> inline constexpr bool same = std::is_same_v<std::remove_cvref_t<A>, B>;

struct expressions {
  template <class Context> TK_DEVICE void operator()(Context&) const {
    tile<64> x = 1.f;
    packed<64> p = cast<bf16>(x);
    column c = 2.f;
    row_of<float, 64> r{nullptr, 0};
    static_assert(is_lazy<decltype(x + x)> && is_lazy<decltype(x * c)> && is_lazy<decltype(x * r)>);
    static_assert(is_lazy<decltype(2.f * p)> && is_lazy<decltype(exp2(x))>);
    static_assert(same<decltype(c + c), column> && same<decltype(1.f - c), column>);
    static_assert(same<decltype(exp2(c)), column> && same<decltype(max(c, 0.f)), column>);
    static_assert(same<decltype(row_max(x)), column> && same<decltype(row_sum(x * c)), column>);
    static_assert(decltype(x + x)::rows == R && decltype(x + x)::cols == 64);
    static_assert(decltype(c * r)::rows == R && decltype(c * r)::cols == 64);
    static_assert(same<typename decltype(cast<fp16>(x))::type, fp16>);
    static_assert(same<decltype(columns<16>(x, 0)), tile<16>>);
    static_assert(std::is_assignable_v<tile<64>&, decltype(x + x)>);
    static_assert(!std::is_constructible_v<column, tile<64>>);
    c = row_sum(x + p) + row_sum(c * r);
  }
};
void run() { compile<expressions>(); }

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
