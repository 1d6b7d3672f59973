// SPDX-License-Identifier: MIT
// norm: r = residual + mask o x / (1 - p);  layer: y = (r - mean) / sqrt(var + eps) w + b;  rms:
// y = r / sqrt(mean r^2 + eps) w + b, over each row.
//           y of fp8: fp8(y (1 / scale)), scale of each row or one that is given.
// Shapes    x, residual, y, r[outer, middle, rows, width]; w, b[width] or absent; any sizes, any
//           strides of rows.
// Types     residual and r are Stream: x's type T, or fp32. Drops: kernels that have a mask, where
//           they are asked for one, for all rows of a launch; others take Stream = T alone. Fp8: y
//           is of either fp8, as a launch says, else T; kernels without a mask.
// Mask      core/random.hpp's bytes of rows, by the row's number among all and the column.
// Numerics  mean and variance (biased) are of the fp32 sum r, before it is rounded to its type, and
//           so is y. The variance is of differences from the mean: a large mean does not hurt it.
//           That of equal numbers is exact where their sum is, and their differences are 0. A scale
//           is that of core/fp8_scale.hpp, of y's largest magnitude in fp32.
// Order     core/row_kernel.hpp's. Rows that do not fit into a tile draw their mask in every pass,
//           and y of fp8 is computed for its scale and once more to be written.
#pragma once
#include "core/fp8_scale.hpp"
#include "core/row_kernel.hpp"
#include "ops/norm/dropout.hpp"

namespace tk {

struct norm_fp8_args : norm_args {
  int given, power_of_two, e5m2;  // flags, but words
};

template <class T, class Stream = T, bool Drops = false, bool Fp8 = false>
struct norm : norm_extras<Drops, 1, 0> {
  static constexpr bool random = Drops;
  static_assert(Drops ? !Fp8 : std::is_same_v<T, Stream>);
  static constexpr int inputs = 2, outputs = 2, vectors = 2, values = Fp8 ? 1 : 0;
  // Random bytes are held, too, and y of fp8, which is wanted twice.
  static constexpr int held = !Drops && !Fp8 ? 1 : std::is_same_v<T, Stream> ? 3 : 2;
  static constexpr row_input<0> x{};
  static constexpr row_input<1> residual{};
  static constexpr row_output<0> y{};
  static constexpr row_output<1> r{};
  static constexpr row_vector<0> weight{};
  static constexpr row_vector<1> bias{};
  static constexpr row_value<0> y_scale{};
  static TK_BOTH constexpr float vector_default(int i) { return i == 0 ? 1.f : 0.f; }
  template <int I> using input = std::conditional_t<I == 0, T, Stream>;
  template <int I>
  using output = std::conditional_t<I != 0, Stream, std::conditional_t<Fp8, fp8_e4m3, T>>;

  using args = std::conditional_t<Fp8, norm_fp8_args, norm_args_of<Drops>>;
  static int passes(args const& a) {
    int const plain = a.layer ? 3 : 2;
    if constexpr (Fp8) return a.given ? plain : plain + 1;
    else return plain;
  }

  template <class Rows> static TK_DEVICE void run(Rows& rows, args const& a) {
    if constexpr (Drops) {
      run_of(rows, a, [plane = plane_of(a), below = a.below, inverse = a.inverse](auto const& p) {
        return p.keep_random(p(x), plane, below) * inverse + p(residual);
      });
    } else {
      run_of(rows, a, [](auto const& p) { return p(x) + p(residual); });
    }
  }

  template <class Rows, class F> static TK_DEVICE void run_of(Rows& rows, args const& a, F of_sum) {
    using column = typename Rows::column;
    auto const sum = rows.keep(of_sum);
    // For either kind: a function of its own would keep what a worker knows in local memory.
    auto const normalise = [&](auto deviation) __attribute__((always_inline)) {
      auto const squares = rows.sum([&](auto const& p) { return square(deviation(p)); });
      column const scale = rsqrt(squares * a.per_column + a.eps);
      auto const normal = [&](auto const& p) { return deviation(p) * scale * p(weight) + p(bias); };
      if constexpr (Fp8) {
        auto const exact = rows.keep(normal);
        column const inverse = 1.f / scale_of(rows, a, [&](auto const& p) { return p(exact); });
        rows.each([&](auto const& p) {
          p.write(r, p(sum));
          p.template write_either<fp8_e5m2>(y, p(exact) * inverse, a.e5m2);
        });
      } else {
        rows.each([&](auto const& p) {
          p.write(r, p(sum));
          p.write(y, normal(p));
        });
      }
    };
    if (a.layer) {
      auto const all = rows.sum([&](auto const& p) { return p(sum); });
      column const mean = quotient(all, a.columns, a.per_column);
      normalise([&](auto const& p) { return p(sum) - mean; });
    } else {
      normalise([&](auto const& p) { return p(sum); });
    }
  }

  // What y is divided by.
  template <class Rows, class F> static TK_DEVICE auto scale_of(Rows& rows, args const& a, F of_y) {
    typename Rows::column scale;
    if (a.given) {
      scale = rows.template value<float>(y_scale, [](float s) { return s; });
    } else {
      auto const most = rows.max([&](auto const& p) { return map<counted_magnitude>(of_y(p)); });
      scale = a.e5m2 ? fp8_scale<fp8_e5m2>(most, a.power_of_two)
                     : fp8_scale<fp8_e4m3>(most, a.power_of_two);
      rows.put(y_scale, scale);
    }
    return scale;
  }
};

}  // namespace tk
