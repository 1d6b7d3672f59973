// SPDX-License-Identifier: MIT
// Fibers: an own stack each, switched by hand. x86-64 keeps the callee-saved registers of the
// System V ABI on the stack (the floating-point control words are nobody's to change here); other
// CPUs use ucontext. A fiber stays on the OS thread that first ran it. Stacks lie in one mapping,
// each above a guard page, touched only as deep as they are used; their tops are staggered by a few
// cache lines, or the hot frames of all lanes would share one set of the first-level cache.
#pragma once
#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <new>

#include "backends/emulator/sanitizers.hpp"

#if !defined(__x86_64__) || defined(TK_EMULATOR_UCONTEXT)
#undef TK_EMULATOR_UCONTEXT
#define TK_EMULATOR_UCONTEXT 1
#include <ucontext.h>
#endif
#if defined(TK_EMULATOR_ASAN)
#include <pthread.h>
#endif

namespace tk::emulator {

struct fiber {
#if defined(TK_EMULATOR_UCONTEXT)
  ucontext_t context;
#else
  void* top = nullptr;
#endif
  char* stack = nullptr;
  std::size_t stack_bytes = 0;
  void* thread = nullptr;  // ThreadSanitizer's
  int quiet_depth = 0;
  void* fake_stack = nullptr;  // AddressSanitizer's
};

#if !defined(TK_EMULATOR_UCONTEXT)
// Leaves by a jump: a return would be predicted from the calls of the stack that was left.
__attribute__((naked, noinline)) TK_UNSANITIZED inline void switch_stacks(void** /*save*/,
                                                                          void* /*load*/) {
  asm("pushq %rbp\n\t"
      "pushq %rbx\n\t"
      "pushq %r12\n\t"
      "pushq %r13\n\t"
      "pushq %r14\n\t"
      "pushq %r15\n\t"
      "movq %rsp, (%rdi)\n\t"
      "movq %rsi, %rsp\n\t"
      "popq %r15\n\t"
      "popq %r14\n\t"
      "popq %r13\n\t"
      "popq %r12\n\t"
      "popq %rbx\n\t"
      "popq %rbp\n\t"
      "popq %rcx\n\t"
      "jmp *%rcx");
}
#endif

// The stack that the caller runs on, where AddressSanitizer wants to know it.
inline void adopt_own_stack([[maybe_unused]] fiber& f) {
  f.thread = sanitizer::this_thread();
#if defined(TK_EMULATOR_ASAN)
  pthread_attr_t attributes;
  void* base = nullptr;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return;
  pthread_attr_getstack(&attributes, &base, &f.stack_bytes);
  pthread_attr_destroy(&attributes);
  f.stack = static_cast<char*>(base);
#endif
}

TK_UNSANITIZED inline void switch_to(fiber& from, fiber& to) {
  if (sanitizer::sees_races) {
    from.quiet_depth = sanitizer::quiet_depth, sanitizer::quiet_depth = to.quiet_depth;
    sanitizer::become(to.thread);
  }
#if defined(TK_EMULATOR_ASAN)
  __sanitizer_start_switch_fiber(&from.fake_stack, to.stack, to.stack_bytes);
#endif
#if defined(TK_EMULATOR_UCONTEXT)
  swapcontext(&from.context, &to.context);
#else
  switch_stacks(&from.top, to.top);
#endif
#if defined(TK_EMULATOR_ASAN)
  __sanitizer_finish_switch_fiber(from.fake_stack, nullptr, nullptr);
#endif
}

// The first thing that a fiber does.
TK_UNSANITIZED inline void first_steps() {
#if defined(TK_EMULATOR_ASAN)
  __sanitizer_finish_switch_fiber(nullptr, nullptr, nullptr);
#endif
}

class stacks {
 public:
#if defined(TK_EMULATOR_TSAN) || defined(TK_EMULATOR_ASAN)
  static constexpr std::size_t bytes = 512 * 1024;
#else
  static constexpr std::size_t bytes = 128 * 1024;
#endif
  static constexpr std::size_t guard = 4096, stride = bytes + guard;

  explicit stacks(int count) : count_(count) {
    void* const p = mmap(nullptr, stride * static_cast<std::size_t>(count), PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED) throw std::bad_alloc();
    base_ = static_cast<char*>(p);
    for (int i = 0; i < count; ++i) mprotect(at(i) - guard, guard, PROT_NONE);
  }
  ~stacks() {
    sanitizer::permit(base_, stride * static_cast<std::size_t>(count_));
    munmap(base_, stride * static_cast<std::size_t>(count_));
  }
  stacks(stacks const&) = delete;
  stacks& operator=(stacks const&) = delete;

  // A fiber on the i-th stack; the first switch to it calls entry(), which must not return.
  void prepare(fiber& f, int i, void (*entry)()) {
    std::size_t const stagger = static_cast<std::size_t>(i) % 60 * 17 * 64 % 4096;
    f.stack = at(i);
    f.stack_bytes = bytes - stagger;
    f.thread = sanitizer::new_thread();
#if defined(TK_EMULATOR_UCONTEXT)
    getcontext(&f.context);
    f.context.uc_stack.ss_sp = f.stack;
    f.context.uc_stack.ss_size = f.stack_bytes;
    f.context.uc_link = nullptr;
    makecontext(&f.context, entry, 0);
#else
    void** top = reinterpret_cast<void**>(f.stack + f.stack_bytes);
    *--top = nullptr;  // entry()'s return address: unwinding ends here
    *--top = reinterpret_cast<void*>(entry);
    for (int r = 0; r < 6; ++r) *--top = nullptr;
    f.top = top;
#endif
  }

 private:
  char* at(int i) const { return base_ + stride * static_cast<std::size_t>(i) + guard; }
  char* base_;
  int count_;
};

}  // namespace tk::emulator
