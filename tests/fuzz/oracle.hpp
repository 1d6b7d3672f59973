// SPDX-License-Identifier: MIT
// What ops/tk_ops.h says of a call, decided from its numbers alone and by counting addresses one by
// one: which statuses its faults have. A call must be accepted if and only if it has no fault; a
// refusal must name one of them, whichever comes first.
#pragma once
#include <vector>

#include "tests/fuzz/call.hpp"
#include "tests/fuzz/memory.hpp"

namespace fuzz {

constexpr unsigned bit(tk_status x) { return 1u << x; }

// `may`: faults that are not counted out, because there are too many addresses, or because the
// header leaves the limit to the library.
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

struct seen_call {
  call_spec const* spec = nullptr;
  std::array<seen_tensor, 6> tensors;
  faults by_query, by_data;  // what tk_supports sees, and what a launch sees besides
  bool empty = false;        // no output element

  faults by_launch() const { return {by_query.must | by_data.must, by_query.may | by_data.may}; }
  bool sound() const { return (by_data.must | by_data.may) == 0; }
  std::array<bool, 6> outputs() const;
  bool in_place(std::size_t i) const;  // input i is an output itself, where the op allows it
  // Each tensor that is looked at lies in the arena, and can be walked.
  bool touchable() const;
};

seen_call look(call_spec const& x);

// Faults of the workspace of a call that has no others and needs some.
faults look_at_workspace(seen_call const& x, void const* at, std::size_t given, std::size_t needed);

// The call that runs, for the launches, and what they did.
struct running_call {
  seen_call const* seen = nullptr;
  void* workspace = nullptr;
  std::size_t needed = 0;
  int launches = 0;
};
inline running_call running;

}  // namespace fuzz
