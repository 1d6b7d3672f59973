// SPDX-License-Identifier: MIT
// TK in an application that is Kokkos throughout: views are filled by parallel_for, go as they are
// to tk::gemm and tk::attention_forward, and a parallel_reduce compares with sums in double. It
// runs wherever Kokkos' default space and TK's library agree: on the CPU, or on a card. Exit status
// 0 if both results are right.
#include <cmath>
#include <cstdio>

#include <Kokkos_Core.hpp>

#include <tk_kokkos.hpp>

namespace {

using space = Kokkos::DefaultExecutionSpace;
using layout = Kokkos::LayoutRight;
using tk::bf16;
template <class Data> using view = Kokkos::View<Data, layout, space>;

// Numbers in [-1, 1) that differ from place to place.
KOKKOS_INLINE_FUNCTION float noise(unsigned i) {
  i = (i ^ i >> 16) * 0x7feb352du;
  i = (i ^ i >> 15) * 0x846ca68bu;
  return static_cast<float>((i ^ i >> 16) & 0xffff) / 32768.f - 1.f;
}

template <class View> void fill(View const& x, unsigned seed) {
  auto* const data = x.data();
  Kokkos::parallel_for(
      "fill", Kokkos::RangePolicy<space>(0, static_cast<int>(x.size())), KOKKOS_LAMBDA(int i) {
        data[i] = tk::round_to<bf16>(noise(seed + static_cast<unsigned>(i)));
      });
}

// |found - wanted(row, column)| / |wanted| over rows x columns
template <class Found, class Wanted>
double deviation(int rows, int columns, Found const& found, Wanted const& wanted) {
  double errors = 0, norm = 0;  // sums of squares
  Kokkos::parallel_reduce(
      "compare", Kokkos::RangePolicy<space>(0, rows * columns),
      KOKKOS_LAMBDA(int i, double& error, double& size) {
        double const x = wanted(i / columns, i % columns);
        double const y = found(i / columns, i % columns);
        error += (x - y) * (x - y);
        size += x * x;
      },
      errors, norm);
  return std::sqrt(errors / norm);
}

bool report(char const* what, double deviation, double limit) {
  std::printf("%s: off by %.2e of its norm, at most %.0e is right\n", what, deviation, limit);
  return deviation <= limit;
}

// d = a b^T, into the middle columns of a wider view.
bool run_gemm(space const& on) {
  int const m = 193, n = 96, k = 128;
  view<bf16**> a("a", m, k), b("b", n, k);
  view<float**> wide("d", m, 2 * n);
  fill(a, 1);
  fill(b, 100000);
  auto const d = Kokkos::subview(wide, Kokkos::ALL(), Kokkos::make_pair(n / 2, n / 2 + n));
  view<bf16 const**> const left = a, right = b;

  tk::gemm_options options{.transpose_b = true, .stream = on};
  view<char*> workspace("workspace", tk::gemm_workspace(left, right, d, options));  // zeroed
  options.workspace = workspace.data();
  options.workspace_bytes = workspace.size();
  tk::gemm(left, right, d, options);
  on.fence();

  auto const found = KOKKOS_LAMBDA(int i, int j)->double { return d(i, j); };
  auto const wanted = KOKKOS_LAMBDA(int i, int j)->double {
    double sum = 0;
    for (int l = 0; l < k; ++l) sum += double{tk::widen(left(i, l))} * tk::widen(right(j, l));
    return sum;
  };
  return report("gemm", deviation(m, n, found, wanted), 1e-5);  // fp32 sums of 128 products
}

// Causal attention of one head.
bool run_attention(space const& on) {
  int const n = 130, d = 64;
  view<bf16****> q("q", 1, n, 1, d), k("k", 1, n, 1, d), v("v", 1, n, 1, d), o("o", 1, n, 1, d);
  view<float***> lse("lse", 1, 1, n);
  fill(q, 1);
  fill(k, 100000);
  fill(v, 200000);
  tk::attention_forward_options options{.lse = lse, .mask = TK_MASK_CAUSAL, .stream = on};
  view<char*> workspace("workspace", tk::attention_forward_workspace(q, k, v, o, options));
  options.workspace = workspace.data();
  options.workspace_bytes = workspace.size();
  tk::attention_forward(q, k, v, o, options);
  on.fence();

  double const scale = 1 / std::sqrt(double{d});
  auto const found = KOKKOS_LAMBDA(int i, int j)->double { return tk::widen(o(0, i, 0, j)); };
  auto const wanted = KOKKOS_LAMBDA(int i, int j)->double {
    double weights = 0, sum = 0;  // scores are small: no maximum is taken off
    for (int key = 0; key <= i; ++key) {
      double score = 0;
      for (int c = 0; c < d; ++c)
        score += double{tk::widen(q(0, i, 0, c))} * tk::widen(k(0, key, 0, c));
      double const weight = std::exp(scale * score);
      weights += weight;
      sum += weight * tk::widen(v(0, key, 0, j));
    }
    return sum / weights;
  };
  return report("attention", deviation(n, d, found, wanted), 1e-2);  // bf16 weights and output
}

}  // namespace

int main(int argc, char** argv) {
  Kokkos::ScopeGuard const kokkos(argc, argv);
  std::printf("TK %s, Kokkos on %s\n", tk_version(), space::name());
  try {
    space const on;
    bool const gemm = run_gemm(on), attention = run_attention(on);
    return gemm && attention ? 0 : 1;
  } catch (tk::error const& refused) {
    std::printf("%s\n", refused.what());
    return 1;
  }
}
