// SPDX-License-Identifier: MIT
// From a checked problem to a launch of gemm. gemm_run<T, TransposeA, TransposeB> is instantiated
// once for each row of ops/gemm/gemm.cmake; ops/gemm/gemm.cpp chooses among them.
#pragma once
#include <utility>

#include "ops/gemm/gemm.hpp"
#include "ops/gemm/plan.hpp"

namespace tk {

template <class T, bool TransposeA, bool TransposeB> struct gemm_run {
  static void launch(gemm_problem const& x, gemm_plan const& plan, void* workspace, void* stream);
};

template <class T> tensor<T> typed(matrix const& x) {
  return {static_cast<T*>(x.data), x.rows, x.cols, x.row_stride, x.batch, x.batch_stride};
}

template <class Op, class T, class Out>
void launch_gemm(gemm_problem const& x, gemm_plan const& plan, void* workspace, void* stream) {
  typename Op::args a{};
  a.a = be::read_from<Op::a_tile::rows, Op::a_tile::cols>(typed<T const>(x.a));
  a.b = be::read_from<Op::b_tile::rows / Op::cluster, Op::b_tile::cols>(typed<T const>(x.b));
  a.d = be::write_to<Op::M, Op::V>(typed<Out>(x.d));
  if (x.c.data) {
    a.c = typed<Out const>(x.c);
    a.c_vector_width = vector_width_of(a.c);
    a.c_batched = x.c.batch > 1;
  }
  a.bias = x.bias.data;
  a.bias_along = x.bias_along;
  a.bias_is_fp32 = x.bias.type == element::fp32;
  a.a_batched = x.a.batch > 1;
  a.b_batched = x.b.batch > 1;
  a.m = static_cast<int>(x.m);
  a.n = static_cast<int>(x.n);
  a.k = static_cast<int>(x.k);
  a.batch = static_cast<int>(x.batch);
  a.alpha = x.k > 0 ? x.alpha : 1.f;  // of no product, whatever it is
  a.beta = x.c.data ? x.beta : 0.f;
  a.activation = x.activation;
  a.cut = plan.cut;
  if (workspace) {
    a.flags = static_cast<unsigned*>(workspace);
    a.partials.data = in_workspace<float>(workspace, plan.partials);
  }
  a.plain = a.alpha == 1.f && a.beta == 0.f && a.bias_along == bias_kind::none &&
            a.activation == activation_kind::none;
  be::launch<Op>(a, stream);
}

template <class T, bool TransposeA, bool TransposeB>
void gemm_run<T, TransposeA, TransposeB>::launch(gemm_problem const& x, gemm_plan const& plan,
                                                 void* workspace, void* stream) {
  auto const with = [&]<class Out, int Size, int Cluster>() {
    if (plan.size == Size && plan.cluster == Cluster)
      launch_gemm<gemm<T, Out, TransposeA, TransposeB, Size, Cluster>, T, Out>(x, plan, workspace,
                                                                               stream);
  };
  auto const sized = [&]<class Out, int... Sizes>(Out, std::integer_sequence<int, Sizes...>) {
    (with.template operator()<Out, Sizes, 1>(), ...);
    (
        [&] {
          constexpr int cluster = be::tune_gemm(Sizes).cluster;
          if constexpr (cluster > 1) with.template operator()<Out, Sizes, cluster>();
        }(),
        ...);
  };
  constexpr std::make_integer_sequence<int, be::gemm_sizes> sizes;
  if (x.d.type == element::bf16) sized(bf16{}, sizes);
  else if (x.d.type == element::fp16) sized(fp16{}, sizes);
  else sized(float{}, sizes);
}

}  // namespace tk
