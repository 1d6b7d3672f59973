// SPDX-License-Identifier: MIT
// The problems of the long convolution and its backward, checked, and what their launches are made
// of. data is null in what is absent.
#pragma once
#include "ops/fft_conv/terms.hpp"
#include "ops/tensors.hpp"

namespace tk {

struct sequences : any_tensor {  // [b, h, n], n contiguous
  std::int64_t b, h, n, b_stride, h_stride;
};
struct filters : any_tensor {  // [h, nk] fp32, nk contiguous
  std::int64_t h, nk, h_stride;
};

// What forward and backward are of.
struct fft_conv_operands {
  sequences u, pre, post;
  filters k;
  bool circular;
  bool filter_is_ready;  // the workspace holds its spectra

  std::int64_t share() const { return k.h == 0 ? 1 : u.h / k.h; }  // channels of a filter
};
struct fft_conv_problem : fft_conv_operands {
  sequences y;
};
struct fft_conv_backward_problem : fft_conv_operands {
  sequences dy, du, dpre, dpost;
  filters dk;
  bool wants_dk;  // also where only the workspace is asked for, and data is null
};

// Launches on `stream`; throws tk::error.
void launch(fft_conv_problem const& x, void* workspace, void* stream);
std::size_t workspace_bytes(fft_conv_problem const& x);
void launch(fft_conv_backward_problem const& x, void* workspace, void* stream);
std::size_t workspace_bytes(fft_conv_backward_problem const& x);

// Spectra, and a bound of each (transform.hpp).
struct spectra_place {
  float *tiles, *bounds;
};
// Windows of channels [first_h, first_h + h) (windows.hpp); `both` of their halves, or the first.
struct windows_to_transform {
  sequences x, gate;
  std::int64_t first_h, h, first, blocks;
  bool wraps, both;
  window_kind kind;
};
// Blocks of one or two outputs [rows, columns, n] times their gates (outputs.hpp).
struct blocks_to_write {
  sequences out[2], gate[2];
  std::int64_t rows, columns, first_column, blocks;
  std::int64_t n, there;  // elements of an output, and how many of them are not 0
  bool folds;             // element n + t is added to t
};
// Sums of products of spectra (spectra_conv.hpp).
struct products_to_sum {
  spectral_plan plan;
  spectra_place a, b;
  blocks_to_write to;
};
// Sums of products of two windows' spectra (filter_gradient.hpp).
struct windows_to_correlate {
  windows_to_transform a, b;
  std::int64_t share;
  blocks_to_write to;
};
// Windows times filters of one piece (window_conv.hpp).
struct windows_to_convolve {
  windows_to_transform from;
  spectra_place filters;
  std::int64_t share;
  bool correlates, repeats;  // repeats: windows are blocks that stand beside themselves
  blocks_to_write to;
};
// Sequences and filters of a few taps (short_conv.hpp).
struct short_filters {
  sequences x, gate;
  filters k;
  std::int64_t share;
  bool wraps, correlates;
  blocks_to_write to;
};
struct filters_to_transform {
  filters k;
  std::int64_t pieces;
  bool repeats;  // for blocks that stand beside themselves
  bool whole;    // spectra are kept as fp32, not as fp16
  spectra_place to;
};

}  // namespace tk
