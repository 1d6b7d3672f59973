// SPDX-License-Identifier: MIT
// The loop of a product over the slots of a task:
//   accumulate<TransposeA, TransposeB, Turns>(sum, context, steps, left, right)
// takes `steps` slots of context.in, adds the product of left(slot) and right(slot) to sum for each
// of them, in order, and releases them. The operands are shared tiles, transposed as for mma_ab and
// its like; with Turns the workers' products are in turn. sum is ready when it returns. A backend
// whose loads of operands need to be ahead of the products, from slot to slot, has the loop in its
// ring; that is why it is a word of its own.
#pragma once
#include "core/block.hpp"
#include "core/product.hpp"

namespace tk {

template <bool TransposeA, bool TransposeB, int R, int N, class A, class B>
TK_DEVICE void mma(reg_tile<float, R, N>& sum, A const& a, B const& b) {
  if constexpr (TransposeA && TransposeB) mma_atbt(sum, a, b);
  else if constexpr (TransposeA) mma_atb(sum, a, b);
  else if constexpr (TransposeB) mma_abt(sum, a, b);
  else mma_ab(sum, a, b);
}

template <bool TransposeA, bool TransposeB, bool Turns, class Context, int R, int N, class Left,
          class Right>
TK_DEVICE void accumulate(reg_tile<float, R, N>& sum, Context& c, int steps, Left left,
                          Right right) {
  if constexpr (requires {
                  c.in.template accumulate<TransposeA, TransposeB>(sum, steps, left, right);
                }) {
    c.in.template accumulate<TransposeA, TransposeB>(sum, steps, left, right);
  } else {
    constexpr int running = be::has_async_products ? 1 : 0;  // products at the end of a step
    for (int step = 0; step < steps; ++step) {
      auto& s = c.in.take();
      if constexpr (Turns) c.turn.await();
      mma<TransposeA, TransposeB>(sum, left(s), right(s));
      if constexpr (Turns) c.turn.pass();
      wait<running>();
      if (step >= running) c.in.release();
    }
    wait<0>(sum);
    if (running && steps > 0) c.in.release();
  }
}

}  // namespace tk
