// SPDX-License-Identifier: MIT
// What suite ceilings asks of the device: two ops that do one thing only, over and over. Each of
// `tasks` tasks has `workers` workers; each of them writes `rows` numbers, so that no compiler
// drops its work.
//   products      d[rows, cols] += a[rows, depth] b[depth, cols], bf16 from shared memory, fp32
//   sums;
//                 a has the rows of all workers of a task and is the same for every task.
//                 out = the sums of d's rows
//   exponentials  x <- 2^-x on tiles [rows, cols] in registers. out = the sums of x's rows
#pragma once
#include <cstdint>

namespace tk::bench {

struct rate_shape {
  int workers, rows, cols, depth;
};
rate_shape shape_of_products();
rate_shape shape_of_exponentials();

void launch_products(void const* a, void const* b, float* out, int tasks, int repeats);
void launch_exponentials(float* out, int tasks, int repeats);

}  // namespace tk::bench
