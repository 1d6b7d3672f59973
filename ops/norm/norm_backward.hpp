// SPDX-License-Identifier: MIT
// norm_backward: with g = dy weight, h = (r - mean) scale, scale = 1 / sqrt(var + eps)
//           dresidual = dr + scale (g - mean g - h mean(g h))    (rms: without mean and mean g)
//           dx = mask o dresidual / (1 - p)
//           dweight = sum over rows of dy h, dbias = sum over rows of dy
// Shapes    r, dy, dr, dx, dresidual[rows, width]; weight, dweight, dbias[width]; dr, dresidual,
//           weight, dweight and dbias may be absent.
// Types     r, dr and dresidual are Stream: the type T of dy and dx, or fp32. Drops: kernels that
//           write dresidual, and have norm's mask where they are asked for one; others take
//           Stream = T alone, and in them dx is both.
// Numerics  fp32; statistics as norm's, of r as it was stored. dx, dresidual, dweight and dbias are
//           rounded once.
// Order     core/row_kernel.hpp's.
#pragma once
#include "core/row_kernel.hpp"
#include "ops/norm/dropout.hpp"

namespace tk {

template <class T, class Stream = T, bool Drops = false>
struct norm_backward : norm_extras<Drops, 2, 2> {
  static constexpr bool random = Drops;
  static_assert(Drops || std::is_same_v<T, Stream>);
  static constexpr int inputs = 3, outputs = Drops ? 2 : 1, vectors = 1, sums = 2;
  static constexpr int held = Drops && sizeof(T) == 4 ? 3 : 2;  // random bytes, beside fp32
  // Values per column are of input 0's type, or fp32: where r may be wider, dy comes first.
  static constexpr int at_r = Drops ? 1 : 0, at_dy = Drops ? 0 : 1;
  static constexpr row_input<at_r> r{};
  static constexpr row_input<at_dy> dy{};
  static constexpr row_input<2> dr{};
  static constexpr row_output<0> dx{};
  static constexpr row_output<1> dresidual{};
  static constexpr row_vector<0> weight{};
  static constexpr column_sum<0> dweight{};
  static constexpr column_sum<1> dbias{};
  static TK_BOTH constexpr float vector_default(int) { return 1; }
  template <int I> using input = std::conditional_t<I == at_dy, T, Stream>;
  template <int I> using output = std::conditional_t<I == 0, T, Stream>;

  using args = norm_args_of<Drops>;
  static int passes(args const& a) { return a.layer ? 3 : 2; }

  template <class Rows> static TK_DEVICE void run(Rows& rows, args const& a) {
    using column = typename Rows::column;
    // As in ops/norm/norm.hpp.
    auto const propagate = [&](auto deviation, auto mean_g) __attribute__((always_inline)) {
      auto const [squares, products] =
          rows.sum_both([&](auto const& p) { return square(deviation(p)); },
                        [&](auto const& p) { return p(dy) * p(weight) * deviation(p); });
      column const scale = rsqrt(squares * a.per_column + a.eps);
      column const mean_gh = products * scale * a.per_column;
      auto const total = [&](auto const& p) {
        return p(dr) + (p(dy) * p(weight) - mean_g - deviation(p) * scale * mean_gh) * scale;
      };
      rows.each([&](auto const& p) {
        p.add(dweight, p(dy) * (deviation(p) * scale));
        p.add(dbias, p(dy));
        if constexpr (Drops) {
          p.write(dresidual, total(p));
          p.write(dx, p.keep_random(total(p), plane_of(a), a.below) * a.inverse);
        } else {
          p.write(dx, total(p));
        }
      });
    };
    if (a.layer) {
      auto const sums = rows.sum_both([](auto const& p) { return p(r); },
                                      [](auto const& p) { return p(dy) * p(weight); });
      column const mean = quotient(sums.first, a.columns, a.per_column);
      column const mean_g = quotient(sums.second, a.columns, a.per_column);
      propagate([&](auto const& p) { return p(r) - mean; }, mean_g);
    } else {
      propagate([](auto const& p) { return p(r); }, absent{});
    }
  }
};

}  // namespace tk
