// SPDX-License-Identifier: MIT
// sort_by_key: what must not compile, and right beside it its correct form, which must.
// expect WIDE_KEYS: keyed_items
// expect NO_NUMBERS: keyed_items
#include "core/sort_by_key.hpp"

namespace tk::test {

struct items {
#if defined(WIDE_KEYS)
  TK_BOTH std::uint64_t key(int i) const { return static_cast<std::uint64_t>(i); }
#else
  TK_BOTH std::uint32_t key(int i) const { return static_cast<std::uint32_t>(i); }
#endif
#if !defined(NO_NUMBERS)
  TK_BOTH std::int32_t number(int i) const { return i; }
#endif
};

sorted_items sort(sort_memory const& memory) {
  return sort_by_key(items{}, 100, 100, memory, nullptr);
}

}  // namespace tk::test
