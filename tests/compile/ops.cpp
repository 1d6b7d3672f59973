// SPDX-License-Identifier: MIT
// Ops that lack a member of the block template's contract, ask for more than a block has, or store
// what is not rounded to the destination's type.
// expect NO_WORKERS: block_op
// expect NO_TASK: block_op
// expect NO_STEPS: block_op
// expect NO_TASKS: block_op
// expect NO_SCRATCH: block_op
// expect TOO_MUCH_MEMORY if limited_memory: the op's tiles exceed a block's shared memory
// expect SHARES: the blocks of a cluster load equal shares
// expect STORED_SHARED: store takes cast<T>\(x\)
// expect STORED_OTHER_TYPE: store takes cast<T>\(x\)
// expect STORED_WINDOW: store takes cast<T>\(x\)
// expect STORED_ASYNC: store takes cast<T>\(x\)
// expect STORED_DIRECT: store takes cast<T>\(x\)
// expect CLUSTER if max_cluster == 1: this chip has no clusters
#include "tests/compile/program.hpp"

namespace tk::test {

struct op {
#if !defined(NO_WORKERS)
  static constexpr int workers = 1;
#endif
#if defined(CLUSTER)
  static constexpr int cluster = 2;
#else
  static constexpr int cluster = 1;
#endif
  static constexpr int stages = 1, own_slots = 1;
  struct stage {
    shared_tile<bf16, R, 64> x;
#if defined(TOO_MUCH_MEMORY)
    char rest[be::smem_bytes];
#endif
  };
  struct own {};
#if !defined(NO_SCRATCH)
  struct scratch {
    shared_tile<bf16, R, 64> out;
  };
#endif
  struct args {
    be::source<bf16, R, 64> x;
    be::source<bf16, R / 2 + R / 4, 64> odd_share;
    be::sink<bf16, R, 64> y;
    tensor<bf16> z;
  };
#if !defined(NO_TASK)
  struct task {
#if defined(NO_STEPS)
    int step_count;
#else
    int steps;
#endif
  };
  static TK_BOTH task task_at(args const&, int, int) { return {1}; }
#endif
#if !defined(NO_TASKS)
  static TK_BOTH int tasks(args const&) { return 1; }
#endif
  template <class Task>
  static TK_DEVICE void load(stage& s, args const& a, Task const&, int, be::arrival done) {
#if defined(SHARES)
    load_shared(s.x, window(a.odd_share, 0), done);
#else
    load_async(s.x, window(a.x, 0), done);
#endif
  }
  template <class Context, class Task>
  static TK_DEVICE void compute(Context& c, args const& a, Task const&) {
    reg_tile<bf16, R, 64> x;
    tk::load(x, c.in.take().x);
    c.in.release();
    reg_tile<float, R, 64> y;
    y = x * 2.f;
    store(c.scratch.out, x);
    store(c.scratch.out, cast<bf16>(y));
    store(window(a.y, 0), cast<bf16>(y));
    store_async(c.w, window(a.y, 0), cast<bf16>(y), c.scratch.out);
    store_direct(a.z, 0, 0, 0, 0, cast<bf16>(y), 1);
#if defined(STORED_SHARED)
    store(c.scratch.out, y);
#elif defined(STORED_OTHER_TYPE)
    store(c.scratch.out, cast<fp16>(y));
#elif defined(STORED_WINDOW)
    store(window(a.y, 0), y);
#elif defined(STORED_ASYNC)
    store_async(c.w, window(a.y, 0), y * 2.f, c.scratch.out);
#elif defined(STORED_DIRECT)
    store_direct(a.z, 0, 0, 0, 0, y, 1);
#endif
  }
};

void run() { be::launch<op>({}, nullptr); }

}  // namespace tk::test
