// SPDX-License-Identifier: MIT
// What can be wrong with the inputs that the forward and the backward share, each with the status
// and the parts of the sentence that a caller must get.
#pragma once
#include "tests/ops/fft_conv/scene.hpp"
#include "tests/support/refusals.hpp"

namespace scene {

// Tensors named `name` have n elements along an axis.
template <class s>
spoiled<s> resized(char const* name, std::size_t axis, std::int64_t size, tk_status expected,
                   std::vector<std::string> parts) {
  return {name,
          [=](s& x) {
            for (auto const& argument : x.arguments())
              if (argument.name == std::string(name)) argument.of->shape[axis] = size;
          },
          expected, std::move(parts)};
}

template <class s> std::vector<spoiled<s>> wrong_inputs() {
  std::vector<spoiled<s>> all{
      {"h_k 3", [](s& x) { x.k.shape[0] = 3; }, TK_BAD_SHAPE, {"u has h = 2", "h_k = 3"}},
      {"h_k 0", [](s& x) { x.k.shape[0] = 0; }, TK_BAD_SHAPE, {"u has h = 2", "h_k = 0"}},
      {"k of rank 1", [](s& x) { x.k.dl.ndim = 1; }, TK_BAD_RANK, {"k has 1 dimensions", "2"}},
      {"bf16 k", [](s& x) { x.k.dl.dtype = bf16; }, TK_BAD_TYPE, {"k is bf16", "fp32"}},
      {"fp32 u", [](s& x) { x.u.dl.dtype = fp32; }, TK_BAD_TYPE, {"u is fp32", "bf16 or fp16"}},
      {"fp16 pre", [](s& x) { x.pre.dl.dtype = fp16; }, TK_BAD_TYPE, {"pre is fp16", "u is bf16"}},
      {"fp16 post",
       [](s& x) { x.post.dl.dtype = fp16; },
       TK_BAD_TYPE,
       {"post is fp16", "u is bf16"}},
      {"circular", [](s& x) { x.problem.circular = 2; }, TK_BAD_VALUE, {"circular is 2", "0 or 1"}},
      {"filter_is_ready",
       [](s& x) { x.problem.filter_is_ready = -1; },
       TK_BAD_VALUE,
       {"filter_is_ready is -1", "0 or 1"}},
      {"a circular filter that is too long",
       [](s& x) {
         x.problem.circular = 1;
         for (auto const& argument : x.arguments())
           if (argument.of->dl.dtype.bits == 16) argument.of->shape[2] = 6;
       },
       TK_UNSUPPORTED,
       {"k has nk = 7", "n = 6"}},
  };
  for (std::string const name : {"pre", "post"})
    for (std::size_t axis = 0; axis < 3; ++axis) {
      char const* const axes[] = {"b", "h", "n"};
      all.push_back(resized<s>(name == "pre" ? "pre" : "post", axis, 9, TK_BAD_SHAPE,
                               {name + " has " + axes[axis] + " = 9"}));
    }
  return all;
}

// More elements, windows or pieces of filters than are counted.
template <class s> std::vector<spoiled<s>> too_large() {
  auto const sized = [](std::int64_t b, std::int64_t h, std::int64_t n, std::int64_t nk) {
    return [=](s& x) {
      std::int64_t place = 0;
      for (auto const& argument : x.arguments()) {
        auto& t = *argument.of;
        t.move(++place << 43);
        t.dl.strides = nullptr;
        if (t.dl.dtype.bits == 16) t.shape = {b, h, n};
        else t.shape = {h, nk};
      }
    };
  };
  return {
      {"n", sized(1, 1, (1 << 24) + 1, 7), TK_UNSUPPORTED, {"n is 16777217", "16777216"}},
      {"nk", sized(1, 1, 20, (1 << 30) + 1), TK_UNSUPPORTED, {"nk is 1073741825", "1073741824"}},
      {"windows", sized(1 << 20, 1 << 10, 5, 7), TK_UNSUPPORTED, {"windows", "at most"}},
      {"pieces", sized(1, 1 << 11, 20, 1 << 30), TK_UNSUPPORTED, {"pieces", "at most 536870911"}},
  };
}

template <class s, class Own> void check_all_refusals(Own const& own) {
  std::vector<std::vector<std::int64_t>> sizes;
  s x;
  for (auto const& argument : x.arguments())
    sizes.push_back(argument.of->dl.dtype.bits == 16 ? std::vector<std::int64_t>{2, 64, 8192}
                                                     : std::vector<std::int64_t>{64, 5000});
  check_refusals<s>(2, sizes, {TK_UNSUPPORTED}, [&] {
    try_all(wrong_inputs<s>());
    try_all(too_large<s>());
    own();
  });
}

}  // namespace scene
