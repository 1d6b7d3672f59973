// SPDX-License-Identifier: MIT
// See generate.hpp. Tensors are laid out as callers do it (packed, padded, permuted, reversed,
// broadcast, slices of one buffer) and put into the arena one after the other, or anywhere.
#include "tests/fuzz/generate.hpp"

#include <fuzzer/FuzzedDataProvider.h>

#include <bit>
#include <limits>
#include <utility>
#include <vector>

#include "tests/fuzz/memory.hpp"

namespace fuzz {
namespace {

using i64 = std::int64_t;
using sizes = std::vector<i64>;

class generator {
 public:
  generator(std::uint8_t const* data, std::size_t size) : in_(data, size) {}

  call_spec make() {
    x_.op = static_cast<tk_op>(number(0, 2));
    huge_ = number(0, 5) == 0;
    in_order_ = number(0, 3) != 0;
    shared_row_ = number(1, 96);
    switch (x_.op) {
      case TK_OP_GEMM: make_gemm(); break;
      case TK_OP_ATTENTION_FORWARD: make_attention(); break;
      case TK_OP_NORM: make_norm(); break;
    }
    make_workspace();
    if (number(0, 15) == 0) {
      for (int i = 0; i < 24; ++i) spoil();
    } else {
      for (auto i = number(0, 3); i > 0; --i) spoil();
    }
    return x_;
  }

 private:
  i64 number(i64 least, i64 most) { return in_.ConsumeIntegralInRange<i64>(least, most); }
  bool flip() { return in_.ConsumeBool(); }

  i64 small_size() {
    static constexpr i64 often[] = {1, 2, 3, 4, 5, 7, 8, 9, 16, 17, 24, 1, 2, 0};
    return in_.PickValueInArray(often);
  }
  i64 size() {
    static constexpr i64 rarely[] = {31, 63, 64, 65, 128, 129, 256, 768, 1000, 2048};
    if (huge_ && flip()) return in_.PickValueInArray(large) + number(-1, 1);
    return number(0, 7) ? small_size() : in_.PickValueInArray(rarely);
  }
  i64 wild() {
    constexpr auto low = std::numeric_limits<i64>::min(), high = std::numeric_limits<i64>::max();
    constexpr i64 two31 = i64(1) << 31;
    static constexpr i64 edges[] = {0,
                                    1,
                                    -1,
                                    2,
                                    -2,
                                    low,
                                    high,
                                    low + 1,
                                    high - 1,
                                    two31,
                                    -two31,
                                    high / 2,
                                    low / 2,
                                    two31 - 1,
                                    two31 - 1024,
                                    two31 - 1025,
                                    2 * two31,
                                    high / 4,
                                    i64(1) << 20,
                                    i64(1) << 40,
                                    i64(1) << 46,
                                    3 * 1000003,
                                    65535};
    switch (number(0, 3)) {
      case 0: return in_.ConsumeIntegral<i64>();
      case 1: return number(-300, 300);
      default: return in_.PickValueInArray(edges);
    }
  }
  int wild_int() { return static_cast<int>(wild()); }
  float wild_float() {
    constexpr auto inf = std::numeric_limits<float>::infinity();
    static constexpr float edges[] = {0.f, -0.f, 1.f, inf, -inf, 1e-45f, 3e38f};
    if (number(0, 4) == 0) return std::bit_cast<float>(in_.ConsumeIntegral<std::uint32_t>());
    return number(0, 4) ? in_.PickValueInArray(edges) : std::numeric_limits<float>::quiet_NaN();
  }

  struct type {
    int code, bits;
  };
  static constexpr type types[] = {{kDLBfloat, 16}, {kDLFloat, 16}, {kDLFloat, 32}};

  // ---- a correct tensor
  void lay_out(tensor_spec& t, bool output) {
    auto const rank = static_cast<std::size_t>(t.ndim);
    i64 next = 1;
    for (std::size_t i = rank; i-- > 0; next = times(next, t.shape[i])) t.strides[i] = next;
    if (huge_) return lay_out_huge(t, output);
    if (rank < 2) return void(t.has_strides = flip());
    auto const outer = static_cast<std::size_t>(number(0, i64(rank) - 2));
    switch (number(0, 9)) {
      case 0: t.has_strides = false; break;
      case 1:
      case 2: break;
      case 3: pad(t, number(1, 16)); break;
      case 4:
        pad(t, number(0, 3));
        t.strides[outer] = -t.strides[outer];
        break;
      case 5:
        if (!output || flip()) t.strides[outer] = 0;
        break;
      case 6: permute(t, outer); break;
      case 7: t.strides[outer] = number(-64, 64); break;
      case 8: pad(t, shared_row_ - t.shape[rank - 1]); break;
      default:
        for (std::size_t i = 0; i + 1 < rank; ++i) t.strides[i] = number(-128, 128);
    }
  }
  static i64 times(i64 x, i64 y) {
    return static_cast<i64>(static_cast<std::uint64_t>(x) * static_cast<std::uint64_t>(y));
  }
  // More elements than memory holds; an input's may lie on each other.
  void lay_out_huge(tensor_spec& t, bool output) {
    if (output ? number(0, 3) : flip()) return;
    for (int i = 0; i + 1 < t.ndim; ++i)
      t.strides[static_cast<std::size_t>(i)] = number(0, 3) == 0 ? wild()
                                               : flip()          ? number(-9, 9)
                                                                 : 3000009 - 6 * number(0, 99);
  }
  // Rows further apart.
  static void pad(tensor_spec& t, i64 by) {
    auto const row = static_cast<std::size_t>(t.ndim) - 2;
    t.strides[row] += by;
    for (std::size_t i = row; i-- > 0;) t.strides[i] = t.strides[i + 1] * t.shape[i + 1];
  }
  // As if axes `i` and the one after it had been swapped; the last stays contiguous.
  static void permute(tensor_spec& t, std::size_t i) {
    if (i + 2 >= static_cast<std::size_t>(t.ndim)) return;
    t.strides[i + 1] = t.strides[i + 2] * t.shape[i + 2];
    t.strides[i] = t.strides[i + 1];
    t.strides[i + 1] *= t.shape[i];
  }

  void place(tensor_spec& t) {
    i64 const width = t.bits / 8;
    if (huge_) return void(t.data = address_in_arena(number(0, arena_bytes) / width * width));
    i64 low = 0, high = 0;
    for (std::size_t i = 0; i < static_cast<std::size_t>(t.ndim); ++i) {
      auto const reach = t.strides[i] * (t.shape[i] > 0 ? t.shape[i] - 1 : 0);
      (reach < 0 ? low : high) += reach;
    }
    i64 const bytes = (high - low + 1) * width;
    if (!in_order_ || cursor_ + bytes > i64(arena_bytes)) cursor_ = number(0, arena_bytes - 1);
    cursor_ = (cursor_ + width - 1) / width * width;
    i64 const offset = flip() ? number(0, 64) : 0;
    t.data = address_in_arena(cursor_ - low * width - offset);
    t.byte_offset = static_cast<std::uint64_t>(offset);
    cursor_ += bytes + (flip() ? number(0, 32) : 0);
  }
  static std::uint64_t address_in_arena(i64 offset) {
    return reinterpret_cast<std::uintptr_t>(arena) + static_cast<std::uint64_t>(offset);
  }

  void tensor(std::size_t i, type of, sizes const& shape, bool output) {
    auto& t = x_.tensors[i];
    t.code = of.code, t.bits = of.bits;
    t.ndim = static_cast<int>(shape.size());
    t.shape.fill(1), t.strides.fill(1);
    std::copy(shape.begin(), shape.end(), t.shape.begin());
    lay_out(t, output);
    place(t);
  }

  // ---- a correct problem
  void make_gemm() {
    x_.size = sizeof(tk_gemm_problem);
    i64 const m = size(), n = size(), k = number(0, 7) ? size() : number(700, 5000);
    i64 const batch = huge_ ? size() : number(0, 2) ? number(1, 3) : 1;
    auto const matrix = [&](i64 rows, i64 cols, bool may_share) {
      sizes shape{rows, cols};
      bool const shares = may_share && flip();
      if (batch > 1 ? !shares || flip() : flip()) shape.insert(shape.begin(), shares ? 1 : batch);
      return shape;
    };
    x_.transpose_a = flip(), x_.transpose_b = flip();
    auto const in = types[number(0, 1)], out = types[number(0, 2)];
    tensor(0, in, x_.transpose_a ? matrix(k, m, true) : matrix(m, k, true), false);
    tensor(1, in, x_.transpose_b ? matrix(n, k, true) : matrix(k, n, true), false);
    tensor(3, out, matrix(m, n, false), true);
    x_.beta = flip() ? 0.f : wild_float();
    if (x_.beta != 0 && number(0, 3) == 0) x_.tensors[2] = x_.tensors[3];
    else if (x_.beta != 0 || flip()) tensor(2, out, matrix(m, n, true), false);
    else x_.tensors[2].given = false;
    x_.bias_kind = static_cast<int>(number(0, 2));
    if (x_.bias_kind == 0) x_.tensors[4].given = false;
    else tensor(4, flip() ? types[2] : out, {x_.bias_kind == 1 ? n : m}, false);
    x_.activation = static_cast<int>(number(0, 4));
    x_.alpha = wild_float();
  }

  i64 head_size() {
    auto const how = number(0, 15);
    return how == 0 ? number(0, 300) : 8 * number(1, how < 14 ? 4 : 33);
  }

  void make_attention() {
    x_.size = sizeof(tk_attention_forward_problem);
    i64 const b = huge_ ? size() : number(0, 3) ? number(1, 2) : small_size();
    i64 const hk = number(number(0, 7) == 0 ? 0 : 1, 3);
    i64 const hq = number(0, 7) ? hk * number(1, 3) : number(0, 5), nq = size(), nk = size();
    i64 const d = head_size(), dv = flip() ? d : head_size();
    auto const of = types[number(0, 1)];
    tensor(0, of, {b, nq, hq, d}, false);
    tensor(1, of, {b, nk, hk, d}, false);
    tensor(2, of, {b, nk, hk, dv}, false);
    tensor(3, of, {b, nq, hq, dv}, true);
    if (flip()) tensor(4, types[2], {b, hq, nq}, true);
    else x_.tensors[4].given = false;
    x_.mask = flip();
    x_.scale = static_cast<float>(number(-8, 8)) / 4;
  }

  void make_norm() {
    x_.size = sizeof(tk_norm_problem);
    i64 const rows = size(), width = size();
    auto const of = types[number(0, 2)], scale = flip() ? of : types[2];
    auto const matrix = [&] { return rows == 1 && flip() ? sizes{width} : sizes{rows, width}; };
    auto const optional = [&](std::size_t i, auto const& make) {
      if (flip()) make();
      else x_.tensors[i].given = false;
    };
    tensor(0, of, matrix(), false);
    optional(1, [&] { tensor(1, of, matrix(), false); });
    for (std::size_t const i : {2, 5}) optional(i, [&] { tensor(i, scale, {width}, false); });
    auto const output = [&](std::size_t i) {
      if (number(0, 2)) tensor(i, of, matrix(), true);
      else x_.tensors[i] = x_.tensors[std::size_t(flip() && x_.tensors[1].given)];  // in place
    };
    output(3);
    optional(4, [&] { output(4); });
    x_.kind = flip();
    x_.eps = static_cast<float>(number(0, 8)) / 4;
  }

  void make_workspace() {
    auto const how = number(0, 15);
    x_.where = how == 0   ? workspace_in::nowhere
               : how < 12 ? workspace_in::pool
                          : workspace_in::arena;
    if (x_.where == workspace_in::arena) x_.workspace_shift = std::uint64_t(number(0, 8191)) * 16;
    else if (number(0, 7) == 0) x_.workspace_shift = std::uint64_t(number(0, 17));
    x_.workspace_more = number(0, 7) ? 0 : number(0, 2) ? number(-17, 64) : wild();
  }

  // ---- a fault, or what looks like one
  void spoil() {
    if (number(0, 3) == 0) return spoil_problem();
    auto& t = x_.tensors[static_cast<std::size_t>(number(0, 5))];
    auto const axis =
        static_cast<std::size_t>(number(0, t.ndim > 0 && t.ndim < 8 ? t.ndim - 1 : 7));
    switch (number(0, 16)) {
      case 0: t.given = !t.given; break;
      case 1: t = x_.tensors[static_cast<std::size_t>(number(0, 5))]; break;
      case 2: t.device_type = flip() ? static_cast<int>(number(0, 17)) : wild_int(); break;
      case 3: t.device_id = wild_int(); break;
      case 4: t.code = flip() ? static_cast<int>(number(0, 6)) : wild_int(); break;
      case 5: t.bits = flip() ? (t.bits == 16 ? 32 : 16) : wild_int(); break;
      case 6: t.lanes = wild_int(); break;
      case 7: t.ndim = number(0, 2) ? static_cast<int>(number(-1, 9)) : wild_int(); break;
      case 8: t.has_shape = !t.has_shape; break;
      case 9: t.shape[axis] = flip() ? size() : wild(); break;
      case 10: t.strides[axis] = flip() ? number(-300, 300) : wild(); break;
      case 11: t.has_strides = !t.has_strides; break;
      case 12: t.data = flip() ? 0 : static_cast<std::uint64_t>(wild()); break;
      case 13: t.data += static_cast<std::uint64_t>(number(-4, 4)); break;
      case 14: t.data = address_in_arena(number(0, arena_bytes)); break;
      case 15: put_at_edge(t); break;
      default: t.byte_offset = flip() ? t.byte_offset + 1 : static_cast<std::uint64_t>(wild());
    }
  }

  // The tensor just within 64 bits, or just past them.
  void put_at_edge(tensor_spec& t) {
    if (t.ndim < 2 || t.ndim > 8) return;
    auto const rank = static_cast<std::size_t>(t.ndim);
    wide const width = t.bits == 32 ? 4 : 2, past = number(-2, 2);
    wide low = 0, high = 0;
    bool const far = number(0, 2) == 0;  // through the outer stride, else by the address
    for (std::size_t i = far; i < rank; ++i) {
      wide const steps = t.shape[i] > 0 ? wide(t.shape[i]) - 1 : 0;
      wide const reach = steps * t.strides[i];
      (reach < 0 ? low : high) += reach;
    }
    t.has_strides = true;
    if (far) {
      wide const steps = t.shape[0] > 1 ? t.shape[0] - 1 : 1;
      wide const stride = ((wide(1) << 63) / width - (high - low) + past) / steps;
      t.strides[0] = static_cast<i64>(flip() ? stride : -stride);
    } else {
      t.data = static_cast<std::uint64_t>(past - (flip() ? low : high + 1) * width);
    }
    if (flip()) t.byte_offset = 0;
  }

  void spoil_problem() {
    switch (number(0, 11)) {
      case 0: x_.size = static_cast<std::size_t>(flip() ? number(0, 128) : wild()); break;
      case 1: x_.transpose_a = flip() ? !x_.transpose_a : wild_int(); break;
      case 2: x_.transpose_b = flip() ? !x_.transpose_b : wild_int(); break;
      case 3: x_.bias_kind = flip() ? static_cast<int>(number(0, 3)) : wild_int(); break;
      case 4: x_.activation = flip() ? static_cast<int>(number(0, 5)) : wild_int(); break;
      case 5: x_.mask = flip() ? static_cast<int>(number(0, 2)) : wild_int(); break;
      case 6: x_.alpha = wild_float(); break;
      case 7: x_.beta = wild_float(); break;
      case 8: x_.scale = wild_float(); break;
      case 9: x_.kind = flip() ? static_cast<int>(number(0, 2)) : wild_int(); break;
      case 10: x_.eps = wild_float(); break;
      default: x_.op = static_cast<tk_op>(number(0, 2));
    }
  }

  static constexpr i64 large[] = {i64(1) << 31, (i64(1) << 31) - 1025, i64(1) << 30,
                                  i64(1) << 24, i64(1) << 20,          i64(1) << 16};

  FuzzedDataProvider in_;
  call_spec x_;
  bool in_order_ = true, huge_ = false;
  i64 shared_row_ = 1, cursor_ = 0;
};

}  // namespace

call_spec generate(std::uint8_t const* data, std::size_t size) {
  return generator(data, size).make();
}

}  // namespace fuzz
