// SPDX-License-Identifier: MIT
// The memory that tensors and workspaces lie in. Bytes of the arena that no tensor covers are its
// guards: a call that writes them is found by comparing with what was there before.
#pragma once
#include <cstddef>
#include <cstdint>

namespace fuzz {

inline constexpr std::size_t arena_bytes = 1 << 17, pool_bytes = 1 << 19;
alignas(256) inline unsigned char arena[arena_bytes];
alignas(256) inline unsigned char pool[pool_bytes];  // zero but while a call runs

__extension__ typedef __int128 wide;

inline wide address_of(void const* p) { return wide(reinterpret_cast<std::uintptr_t>(p)); }

inline bool within(wide from, wide to, void const* memory, std::size_t bytes) {
  return from >= address_of(memory) && to <= address_of(memory) + wide(bytes);
}
inline bool in_arena(wide from, wide to) { return within(from, to, arena, arena_bytes); }
inline bool in_pool(wide from, wide to) { return within(from, to, pool, pool_bytes); }

// Says what does not hold and ends the program, so that the fuzzer keeps the input.
[[noreturn]] void broken(char const* what);
inline void require(bool holds, char const* what) {
  if (!holds) broken(what);
}

}  // namespace fuzz
