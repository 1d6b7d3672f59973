// SPDX-License-Identifier: MIT
// What a lane does to memory beyond plain loads and stores: work that finishes late, polls,
// atomics.
#pragma once
#include <bit>
#include <type_traits>

#include "backends/emulator/barrier.hpp"
#include "core/element.hpp"

namespace tk::emulator {

// ---- work of this lane that finishes late, in order
inline void finish_oldest(lane& me) {
  auto const f = std::move(me.later.front());
  me.later.erase(me.later.begin());
  f();
}
inline bool finishes_early(lane const& me) {
  sanitizer::quiet const q;
  return own_team(me).is_random() && own_team(me).draw(3) == 0;
}
template <class F> void later(F f) {
  static_assert(std::is_trivially_copyable_v<F>, "captures by value what must outlive the call");
  lane& me = self();
  me.later.emplace_back(f);
  while (!me.later.empty() && finishes_early(me)) finish_oldest(me);
}
inline void wait_later(int n) {
  lane& me = self();
  while (static_cast<int>(me.later.size()) > n) finish_oldest(me);
}

// ---- polls
inline std::uint64_t read_integer(void const* p, int bytes) {
  if (bytes == 1) return __atomic_load_n(static_cast<std::uint8_t const*>(p), __ATOMIC_ACQUIRE);
  if (bytes == 2) return __atomic_load_n(static_cast<std::uint16_t const*>(p), __ATOMIC_ACQUIRE);
  if (bytes == 4) return __atomic_load_n(static_cast<std::uint32_t const*>(p), __ATOMIC_ACQUIRE);
  return __atomic_load_n(static_cast<std::uint64_t const*>(p), __ATOMIC_ACQUIRE);
}
inline std::string state_of_poll(lane const& l, std::uint64_t at) {
  return "the integer at " + hex(at) + " is " + std::to_string(l.polled_value);
}
// Who released what is read here is not known: it may be any warp of the team.
inline void know_all_fences(lane& me) {
  sanitizer::quiet const q;
  team const& t = own_team(me);
  if (t.fences)
    for (warp const& w : t.warps) me.fences.set(w.index, t.fences);
}
// Acquire load. A lane that finds the same value twice in a row waits until it changes; where
// nothing else can go on, it is let go a few times all the same (launch.hpp).
template <class T> T poll(T const* p, location where = location::current()) {
  static_assert(std::is_integral_v<T>);
  using bits = std::make_unsigned_t<T>;
  std::uint64_t x = read_integer(p, sizeof(T));
  lane& me = self();
  {
    sanitizer::quiet const q;
    if (me.polled == p && me.polled_value == x) {
      me.polled_bytes = sizeof(T);
      me.polling = true;
      ++own_team(me).polling;
      park(me, {"poll", where, state_of_poll, reinterpret_cast<std::uintptr_t>(p)});
    } else {
      yield(me);
    }
  }
  x = read_integer(p, sizeof(T));
  me.polled = p, me.polled_value = x;
  know_all_fences(me);
  return static_cast<T>(static_cast<bits>(x));
}

// ---- atomics
template <class T> T atomic_add(T* p, T x) {
  if constexpr (std::is_integral_v<T>) {
    return __atomic_fetch_add(p, x, __ATOMIC_ACQ_REL);
  } else {
    using bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint16_t>;
    auto* const q = reinterpret_cast<bits*>(p);
    bits old = __atomic_load_n(q, __ATOMIC_RELAXED), sum;
    do {
      sum = std::bit_cast<bits>(round_to<T>(widen(std::bit_cast<T>(old)) + widen(x)));
    } while (!__atomic_compare_exchange_n(q, &old, sum, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    return std::bit_cast<T>(old);
  }
}

}  // namespace tk::emulator
