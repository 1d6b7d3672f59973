// SPDX-License-Identifier: MIT
// One case of tk_fft_conv: sizes, gates, layouts in memory. oracle.hpp judges.
#pragma once
#include <algorithm>
#include <sstream>
#include <string>

#include "ops/fft_conv/fft_conv.h"
#include "ops/fft_conv/fft_conv_backward.h"
#include "tests/support/launch.hpp"
#include "tests/support/random.hpp"
#include "tests/support/sequences.hpp"

namespace tk::test {

struct conv_case {
  std::int64_t b = 1, h = 1, n = 0, nk = 0, share = 1;  // share: channels of a filter
  dtype type = dtype::bf16;
  bool circular = false, pre = false, post = false;
  std::int64_t padding = 0;  // elements after each row
  int misalignment = 0;      // of each operand's first element
  bool by_channel = false;   // [h, b, n] in memory
  std::int64_t taps = 0;     // of a filter are not 0; 0: all. Then dk is looked at there alone

  bool is_tap(std::int64_t j) const {
    std::int64_t const step = taps > 0 ? std::max<std::int64_t>(1, nk / taps) : 1;
    return j % step == step - 1;
  }
  std::int64_t filters() const { return h / share; }
};

inline std::string describe(conv_case const& x) {
  std::ostringstream s;
  s << "fft_conv b " << x.b << " h " << x.h << " n " << x.n << " nk " << x.nk << " share "
    << x.share << " " << name_of(x.type) << (x.circular ? " circular" : "") << (x.pre ? " pre" : "")
    << (x.post ? " post" : "") << (x.by_channel ? " hbn" : "");
  if (x.padding) s << " +" << x.padding;
  if (x.misalignment) s << " off by " << x.misalignment;
  if (x.taps) s << " of " << x.taps << " taps";
  return s.str();
}

// What forward and backward are both given.
struct conv_inputs {
  explicit conv_inputs(conv_case const& x) : of(x), memories(4) {
    u = make(role::input, 51);
    if (x.pre) pre = make(role::input, 52);
    if (x.post) post = make(role::input, 53);
    k = make_filter(role::input, 54);
  }
  conv_inputs(conv_inputs const&) = delete;

  tensor make(role use, std::uint64_t seed) {
    std::int64_t const row = of.n + of.padding;
    std::vector<std::int64_t> const strides = of.by_channel
                                                  ? std::vector<std::int64_t>{row, of.b * row, 1}
                                                  : std::vector<std::int64_t>{of.h * row, row, 1};
    auto x = memories.make(of.type, {of.b, of.h, of.n}, strides, use, of.misalignment);
    fill(x, use == role::input ? data::reals : data::nans, seed);
    return x;
  }
  tensor make_filter(role use, std::uint64_t seed) {
    auto x = memories.make(dtype::fp32, {of.filters(), of.nk}, {of.nk + of.padding, 1}, use,
                           of.misalignment);
    fill(x, use == role::input ? data::reals : data::nans, seed);
    for (std::int64_t f = 0; use == role::input && f < of.filters(); ++f)
      for (std::int64_t j = 0; of.taps > 0 && j < of.nk; ++j)
        if (!of.is_tap(j)) set(x, f, j, 0);
    return x;
  }

  conv_case of;
  world memories;
  tensor u, k, pre, post;
};

struct conv_operands : conv_inputs {
  explicit conv_operands(conv_case const& x) : conv_inputs(x) { y = make(role::output, 0); }
  tensor y;
};
inline std::vector<tensor> outputs_of(conv_operands const& x) { return {x.y}; }

template <class Body> std::string with_problem(conv_operands const& x, Body const& body) {
  given_tensor const u(x.u), k(x.k), y(x.y), pre(x.pre), post(x.post);
  tk_fft_conv_problem p{};
  p.size = sizeof p;
  p.u = u.get(), p.k = k.get(), p.y = y.get(), p.pre = pre.get(), p.post = post.get();
  p.circular = x.of.circular;
  return body(called_op{TK_OP_FFT_CONV, tk_fft_conv}, static_cast<tk_fft_conv_problem const*>(&p));
}

struct conv_backward_operands : conv_inputs {
  explicit conv_backward_operands(conv_case const& x) : conv_inputs(x) {
    dy = make(role::input, 55);
    du = make(role::output, 0);
    dk = make_filter(role::output, 0);
    if (x.pre) dpre = make(role::output, 0);
    if (x.post) dpost = make(role::output, 0);
  }
  tensor dy, du, dk, dpre, dpost;
};
inline std::vector<tensor> outputs_of(conv_backward_operands const& x) {
  std::vector<tensor> all;
  for (auto const* y : {&x.du, &x.dk, &x.dpre, &x.dpost})
    if (y->in) all.push_back(*y);
  return all;
}

template <class Body> std::string with_problem(conv_backward_operands const& x, Body const& body) {
  given_tensor const u(x.u), k(x.k), pre(x.pre), post(x.post), dy(x.dy), du(x.du), dk(x.dk),
      dpre(x.dpre), dpost(x.dpost);
  tk_fft_conv_backward_problem p{};
  p.size = sizeof p;
  p.u = u.get(), p.k = k.get(), p.pre = pre.get(), p.post = post.get(), p.dy = dy.get();
  p.du = du.get(), p.dk = dk.get(), p.dpre = dpre.get(), p.dpost = dpost.get();
  p.circular = x.of.circular;
  return body(called_op{TK_OP_FFT_CONV_BACKWARD, tk_fft_conv_backward},
              static_cast<tk_fft_conv_backward_problem const*>(&p));
}

}  // namespace tk::test
