// SPDX-License-Identifier: MIT
// What the warps of a block did when, for whoever tunes an op. With -DTK_TIMELINE=ON, one lane of
// each worker and producer notes the clock of its multiprocessor where it takes and releases slots,
// takes turns, issues products, waits for them, and fills slots; without, note() is nothing. A
// launch then waits for its kernel, and appends what was noted to the file that the environment
// variable TK_TIMELINE names; benchmarks/timeline.py reads it. A note takes some 200 cycles of its
// warp.
#pragma once
#include "backends/backend.hpp"

#if defined(TK_TIMELINE)
#include <cstdio>
#include <cstdlib>
#include <typeinfo>
#include <vector>

#include TK_VENDOR(runtime.hpp)
#endif

namespace tk::be {

enum class event : unsigned {
  none,
  task,     // a worker begins one
  take,     // asks for a slot
  taken,    // has it
  release,  // gives one back
  turn,     // waits for its turn
  turned,   // has it
  pass,     // gives it on
  product,  // begins to issue one
  issued,   // has issued it
  wait,     // waits for products
  waited,   // they are done
  put,      // a producer waits for an empty slot
  empty,    // has it
  filling,  // has issued its copies
  done,     // a worker has ended a task
};

#if defined(TK_TIMELINE) && defined(__CUDACC__)

inline constexpr unsigned timeline_warps = 32,
                          timeline_events = 4096;  // at most: of a block; of a warp
struct timeline_entry {
  unsigned clock, what;
};
static __device__ timeline_entry* timeline_of_launch;

struct timeline_place {
  timeline_entry* first;
  unsigned count[timeline_warps];
};
TK_DEVICE timeline_place& timeline() {
  __shared__ timeline_place place;
  return place;
}
// Before anything is noted, by one lane of the block.
TK_DEVICE void begin_timeline() {
  auto& t = timeline();
  t.first = timeline_of_launch
                ? timeline_of_launch + std::size_t{blockIdx.x} * timeline_warps * timeline_events
                : nullptr;
  for (unsigned& n : t.count) n = 0;
}
// By all lanes of a warp; the first warp of a worker, and all producers', note.
TK_DEVICE void note(event what) {
  unsigned const warp = threadIdx.x / 32;
  if (threadIdx.x % 32 != 0 || (warp >= 4 && warp % 4 != 0)) return;
  auto& t = timeline();
  unsigned const n = t.count[warp];
  if (!t.first || n == timeline_events) return;
  unsigned clock;
  asm volatile("mov.u32 %0, %%clock;" : "=r"(clock)::"memory");
  t.first[warp * timeline_events + n] = {clock, static_cast<unsigned>(what)};
  t.count[warp] = n + 1;
}

// Calls `launch`, and appends what its `blocks` blocks note: a line of text, then the entries.
template <class Op, class Launch> void with_timeline(int blocks, void* stream, Launch launch) {
  char const* const path = std::getenv("TK_TIMELINE");
  if (!path) return launch();
  std::size_t const size = std::size_t(blocks) * timeline_warps * timeline_events;
  timeline_entry* entries = nullptr;
  rt::check(cudaMalloc(&entries, size * sizeof *entries), "memory of the timeline");
  rt::check(cudaMemset(entries, 0, size * sizeof *entries), "memory of the timeline");
  rt::check(cudaMemcpyToSymbol(timeline_of_launch, &entries, sizeof entries), "timeline");
  launch();
  rt::check(cudaStreamSynchronize(static_cast<cudaStream_t>(stream)), "timeline");
  std::vector<timeline_entry> all(size);
  rt::check(cudaMemcpy(all.data(), entries, size * sizeof *entries, cudaMemcpyDefault), "timeline");
  timeline_entry* const none = nullptr;
  rt::check(cudaMemcpyToSymbol(timeline_of_launch, &none, sizeof none), "timeline");
  rt::check(cudaFree(entries), "timeline");
  if (std::FILE* const file = std::fopen(path, "ab")) {
    std::fprintf(file, "%s %d %u %u\n", typeid(Op).name(), blocks, timeline_warps, timeline_events);
    std::fwrite(all.data(), sizeof all[0], size, file);
    std::fclose(file);
  }
}

#else

TK_DEVICE void begin_timeline() {}
TK_DEVICE void note(event) {}
template <class Op, class Launch> void with_timeline(int, void*, Launch launch) { launch(); }

#endif

}  // namespace tk::be
