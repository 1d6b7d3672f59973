// SPDX-License-Identifier: MIT
// Turns random bytes into a call: a correct problem, spoiled in up to three places, so that the
// late checks are reached; three times in sixteen with two tensors that lie on each other, once
// anything at all. Tensors are laid out as callers do
// it (packed, padded, permuted, reversed, broadcast, slices of one buffer) and put into the arena
// one after the other, or anywhere.
#pragma once
#include "tests/fuzz/call.hpp"
#include "tests/fuzz/memory.hpp"

namespace fuzz {

using i64 = std::int64_t;
using sizes = std::vector<i64>;

struct type {
  int code, bits;
};
inline constexpr type bf16{kDLBfloat, 16}, fp16{kDLFloat, 16}, fp32{kDLFloat, 32},
    int32{kDLInt, 32}, int64{kDLInt, 64}, uint64{kDLUInt, 64}, fp8_e4m3{TK_DL_FLOAT8_E4M3FN, 8},
    fp8_e5m2{TK_DL_FLOAT8_E5M2, 8}, boolean{TK_DL_BOOL, 8}, uint8{kDLUInt, 8};

// Numbers out of bytes, each from as many as it needs; the least there is when they are used up.
class number_source {
 public:
  number_source(std::uint8_t const* data, std::size_t size) : at_(data), end_(data + size) {}
  i64 number(i64 least, i64 most) {
    auto const span = static_cast<std::uint64_t>(most) - static_cast<std::uint64_t>(least);
    std::uint64_t x = 0;
    for (auto rest = span; rest > 0 && at_ < end_; rest >>= 8) x = x << 8 | *at_++;
    if (span + 1 != 0) x %= span + 1;
    return static_cast<i64>(static_cast<std::uint64_t>(least) + x);
  }

 private:
  std::uint8_t const *at_, *end_;
};

class generator {
 public:
  generator(std::uint8_t const* data, std::size_t size) : in_(data, size) {}
  call_spec make();

  // ---- for the ops
  i64 number(i64 least, i64 most) { return in_.number(least, most); }
  bool flip() { return number(0, 1) != 0; }
  template <class T, std::size_t N> T any_of(T const (&list)[N]) {
    return list[number(0, i64(N) - 1)];
  }
  i64 small_size();
  i64 size();                          // huge, some of them, where the call is
  bool huge() const { return huge_; }  // tensors have more elements than memory holds
  float wild_float();                  // any, NaN and infinities, too
  type half() { return flip() ? bf16 : fp16; }
  type half_or_fp32() { return number(0, 2) ? half() : fp32; }

  // The argument of that name: somewhere; left out; where another one is.
  void tensor(std::string_view name, type of, sizes const& shape);
  void leave_out(std::string_view name) { at(name).given = false; }
  void put_on(std::string_view name, std::string_view other) { at(name) = at(other); }
  bool given(std::string_view name) { return at(name).given; }
  bool has(std::string_view name) const;  // such an argument
  // The struct, without tensors and size.
  template <class Problem> void fields(Problem const& p) {
    x_.fields.resize(sizeof p);
    std::memcpy(x_.fields.data(), &p, sizeof p);
  }
  // And the struct that it points to, where it does; after fields().
  template <class Part> void part(Part const& p) {
    x_.fields.resize(x_.op->struct_bytes + sizeof p);
    std::memcpy(x_.fields.data() + x_.op->struct_bytes, &p, sizeof p);
    x_.has_part = true;
    x_.part_size = sizeof p;
  }

 private:
  tensor_spec& at(std::string_view name);
  tensor_spec& any_tensor();
  i64 wild();
  int wild_int() { return static_cast<int>(wild()); }

  void lay_out(tensor_spec& t, bool output);
  void lay_out_huge(tensor_spec& t, bool output);
  void place(tensor_spec& t);
  void make_struct();
  void make_workspace();

  void put_together();
  void spoil();
  void spoil_struct();
  void spoil_option(option_field const& field);
  void put_at_edge(tensor_spec& t);

  number_source in_;
  call_spec x_;
  bool in_order_ = true, huge_ = false;
  i64 shared_row_ = 1, cursor_ = 0;
};

inline call_spec generate(std::uint8_t const* data, std::size_t size) {
  return generator(data, size).make();
}

}  // namespace fuzz
