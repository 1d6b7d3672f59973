// SPDX-License-Identifier: MIT
// What the emulator tells ThreadSanitizer and AddressSanitizer; empty without them. Lanes and the
// engines that copy and multiply for them are threads to ThreadSanitizer; all that the emulator
// does for itself happens inside a `quiet` scope, which hides it. Ordering is said with
// publish/observe.
#pragma once
#include <cstddef>

#if defined(__SANITIZE_THREAD__)
#define TK_EMULATOR_TSAN 1
#elif defined(__SANITIZE_ADDRESS__)
#define TK_EMULATOR_ASAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define TK_EMULATOR_TSAN 1
#elif __has_feature(address_sanitizer)
#define TK_EMULATOR_ASAN 1
#endif
#endif

// For what switches stacks or speaks to a sanitizer; without sanitizers it is inlined as usual.
#if !defined(TK_EMULATOR_TSAN) && !defined(TK_EMULATOR_ASAN)
#define TK_UNSANITIZED
#elif defined(__clang__)
#define TK_UNSANITIZED \
  __attribute__((no_sanitize("thread", "address"), disable_sanitizer_instrumentation, noinline))
#else
#define TK_UNSANITIZED __attribute__((no_sanitize("thread", "address"), noinline))
#endif

#if defined(TK_EMULATOR_TSAN)
extern "C" {
void* __tsan_get_current_fiber(void);
void* __tsan_create_fiber(unsigned);
void __tsan_destroy_fiber(void*);
void __tsan_switch_to_fiber(void*, unsigned);
void __tsan_acquire(void*);
void __tsan_release(void*);
void __tsan_read_range(void*, long);
void __tsan_write_range(void*, long);
void AnnotateIgnoreReadsBegin(char const*, int);
void AnnotateIgnoreReadsEnd(char const*, int);
void AnnotateIgnoreWritesBegin(char const*, int);
void AnnotateIgnoreWritesEnd(char const*, int);
}
#endif
#if defined(TK_EMULATOR_ASAN)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

namespace tk::emulator::sanitizer {

// Bytes that an engine reads or writes.
struct range {
  void* from;
  std::size_t bytes;
};

#if defined(TK_EMULATOR_TSAN)
inline constexpr bool sees_races = true;

// How many quiet scopes the running fiber is in.
constinit inline thread_local int quiet_depth = 0;

class quiet {
 public:
  TK_UNSANITIZED quiet() {
    ++quiet_depth;
    AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
    AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
  }
  TK_UNSANITIZED ~quiet() {
    AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
    AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
    --quiet_depth;
  }
  quiet(quiet const&) = delete;
  quiet& operator=(quiet const&) = delete;
};
TK_UNSANITIZED inline void publish(void* at) { __tsan_release(at); }
TK_UNSANITIZED inline void observe(void* at) { __tsan_acquire(at); }
TK_UNSANITIZED inline void* new_thread() { return __tsan_create_fiber(0); }
TK_UNSANITIZED inline void* this_thread() { return __tsan_get_current_fiber(); }
// Without ordering: the two threads are concurrent.
TK_UNSANITIZED inline void become(void* t) { __tsan_switch_to_fiber(t, 1); }
// `depth` quiet scopes were never left.
TK_UNSANITIZED inline void end_thread(void* t, int depth = 0) {
  void* const me = this_thread();
  become(t);
  for (; depth > 0; --depth)
    AnnotateIgnoreWritesEnd(__FILE__, __LINE__), AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
  become(me);
  __tsan_destroy_fiber(t);
}
// By the running thread, which must not be quiet.
TK_UNSANITIZED inline void reads(void* from, std::size_t bytes) { __tsan_read_range(from, bytes); }
TK_UNSANITIZED inline void writes(void* to, std::size_t bytes) { __tsan_write_range(to, bytes); }

// As thread `engine`, after all that was published at `before`: accesses, published at `after`.
TK_UNSANITIZED inline void access(void* engine, void* before, range const* reads,
                                  std::size_t n_reads, range const* writes, std::size_t n_writes,
                                  void* after) {
  void* const me = this_thread();
  become(engine);
  if (before) observe(before);
  for (std::size_t i = 0; i < n_reads; ++i) __tsan_read_range(reads[i].from, reads[i].bytes);
  for (std::size_t i = 0; i < n_writes; ++i) __tsan_write_range(writes[i].from, writes[i].bytes);
  if (after) publish(after);
  become(me);
}
#else
inline constexpr bool sees_races = false;
constinit inline thread_local int quiet_depth = 0;

class quiet {
 public:
  quiet() {}
  ~quiet() {}
};
inline void publish(void*) {}
inline void observe(void*) {}
inline void* new_thread() { return nullptr; }
inline void end_thread(void*, int = 0) {}
inline void* this_thread() { return nullptr; }
inline void become(void*) {}
inline void reads(void*, std::size_t) {}
inline void writes(void*, std::size_t) {}
inline void access(void*, void*, range const*, std::size_t, range const*, std::size_t, void*) {}
#endif

#if defined(TK_EMULATOR_ASAN)
inline constexpr bool sees_addresses = true;
inline void forbid(void const* p, std::size_t bytes) { __asan_poison_memory_region(p, bytes); }
inline void permit(void const* p, std::size_t bytes) { __asan_unpoison_memory_region(p, bytes); }
#else
inline constexpr bool sees_addresses = false;
inline void forbid(void const*, std::size_t) {}
inline void permit(void const*, std::size_t) {}
#endif

}  // namespace tk::emulator::sanitizer
