// SPDX-License-Identifier: MIT
// What ops/tk_base.h and an op's header say of a call, decided from its numbers alone and by
// counting addresses one by one: which statuses its faults have. A call must be accepted if and
// only if it has no fault; a refusal must name one of them, whichever comes first.
#pragma once
#include <tuple>
#include <utility>

#include "tests/fuzz/call.hpp"
#include "tests/fuzz/memory.hpp"

namespace fuzz {

constexpr std::int64_t largest_size = (std::int64_t(1) << 31) - 1025;

constexpr unsigned bit(tk_status x) { return 1u << x; }

// `may`: faults that are not counted out, because there are too many addresses.
struct faults {
  unsigned must = 0, may = 0;
  void add(bool wrong, tk_status as) { must |= wrong ? bit(as) : 0; }
};

// A tensor as the op sees it: axes left out have size 1, axes of size 1 have stride 0.
struct seen_tensor {
  bool looked_at = false;  // by the op
  bool typed = false, shaped = false, strided = false;
  unsigned faults = 0, data_faults = 0;
  int bits = 0, code = 0, rank = 0;
  wide width = 0, address = 0, low = 0, high = 0;  // bytes; [low, high) is what it covers
  std::array<std::int64_t, 4> size{1, 1, 1, 1}, stride{};

  bool empty() const { return count() == 0; }
  wide count() const { return wide(size[0]) * size[1] * size[2] * size[3]; }
  bool countable() const { return size[0] <= most && size[1] <= most && count() <= most; }
  // Addresses of all elements, upward; only where countable.
  std::vector<wide> const& elements() const;

 private:
  static constexpr std::int64_t most = 1 << 15;
  mutable std::vector<wide> elements_;
};

// What an op expects of a tensor.
enum : unsigned {
  takes_bf16 = 1,
  takes_fp16 = 2,
  takes_fp32 = 4,
  takes_halves = 3,
  takes_any = 7,
  takes_int32 = 8,
  takes_uint64 = 16,
  takes_int64 = 32,
  takes_64_bits = 48,
  takes_fp8 = 64,
  takes_booleans = 128
};
struct expected {
  int least_rank, rank;
  unsigned types;
  bool any_stride = false;  // in the last axis, too
};

struct seen_call {
  call_spec const* spec = nullptr;
  std::vector<unsigned char> fields;  // the struct as the library reads it
  std::vector<seen_tensor> tensors;
  faults by_query, by_data;  // what tk_supports sees, and what a launch sees besides
  bool empty = false;        // no output element

  template <class Problem> Problem problem() const {
    Problem p;
    std::memcpy(&p, fields.data(), sizeof p);
    return p;
  }
  // All tensors, for a structured binding of N names in the order of the op's table.
  template <std::size_t N> auto all() const {
    require(N == tensors.size(), "an op's tensors are not those of its table");
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return std::tie(tensors[I]...);
    }(std::make_index_sequence<N>{});
  }
  // The second struct of the op, all 0 where it is not given.
  template <class Part> Part part() const {
    Part p;
    std::memcpy(&p, fields.data() + spec->op->struct_bytes, sizeof p);
    return p;
  }
  bool has_part() const { return spec->has_part && spec->size > spec->op->part_at; }
  std::size_t index(std::string_view name) const;
  // What an older struct lacks is not given.
  bool given(std::string_view name) const;
  // For the ops: reads a tensor; NULL is a fault.
  void read(std::string_view name, expected const& is);

  faults by_launch() const { return {by_query.must | by_data.must, by_query.may | by_data.may}; }
  bool sound() const { return (by_data.must | by_data.may) == 0; }
  bool is_output(std::size_t i) const { return spec->op->tensors[i].output; }
  bool is_written(std::size_t i) const { return is_output(i) && tensors[i].looked_at; }
  // Input i lies where output j does, element for element, which the op allows.
  bool in_place(std::size_t i, std::size_t j) const;
  bool in_place(std::size_t i) const;
  // Each tensor that is looked at lies in the arena, and can be walked.
  bool touchable() const;
};

inline seen_tensor const& seen(seen_call const& call, std::string_view name) {
  return call.tensors[call.index(name)];
}

// Axis i of x has the size of axis j of y; both have one type.
void same_size(faults& to, seen_tensor const& x, int i, seen_tensor const& y, int j);
void same_type(faults& to, seen_tensor const& x, seen_tensor const& y);
inline wide tiles(std::int64_t size, int tile) { return (wide(size) + tile - 1) / tile; }

seen_call look(call_spec const& x);

// Faults of the workspace of a call that has no others and needs some.
faults look_at_workspace(seen_call const& x, void const* at, std::size_t given, std::size_t needed);

}  // namespace fuzz
