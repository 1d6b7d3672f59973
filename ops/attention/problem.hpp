// SPDX-License-Identifier: MIT
// The problems of attention's ops, checked.
#pragma once
#include "ops/tensors.hpp"

namespace tk {

struct by_head {  // fp32 [hq] or [b, hq]
  bool given;
  float const* data;  // null where none is given, or looked at
  std::int64_t b_stride, h_stride;
};
struct bias_tensor : any_tensor {  // [b, h, nq, nk], with strides of 0 where b or h is 1
  bool given;
  std::int64_t b, h, nq, nk, b_stride, h_stride, n_stride;
};

// The options that a kernel takes: none; those that say what a row sees, windows and packed
// sequences, and sinks, none of which changes a score or a weight; all.
enum class option_set { none, seen, all };

// The options (attention_options.h). A window beyond every key is none, and a right one of 0 alone
// is the causal mask. Where sequences are packed q_starts and k_starts are given, b is the number
// of sequences, nq and nk bound their lengths; heads then have b = 1, and all sequences as n.
struct attention_terms {
  bool has_left, has_right;
  std::int64_t left, right;
  float softcap;  // 0: none
  int dropout;    // 256 p, rounded
  by_head alibi, sinks;
  bias_tensor bias;
  std::int32_t const *q_starts, *k_starts;
  std::int64_t b, nq, nk;
  std::uint64_t seed, offset;
  std::uint64_t const* random_state;  // seed and offset, or null
  bool packed;

  option_set options(bool with_sinks) const {
    if (softcap != 0 || dropout != 0 || alibi.given || bias.given) return option_set::all;
    bool const seen = has_left || has_right || packed || (with_sinks && sinks.given);
    return seen ? option_set::seen : option_set::none;
  }
};

struct attention_forward_problem {
  heads q, k, v, o;
  float* lse;  // [b, hq, nq], or [hq, nq] of packed sequences; may be null
  std::int64_t lse_b_stride, lse_h_stride;
  mask_kind mask;
  float scale;
  attention_terms terms;

  option_set options() const { return terms.options(true); }
};

// Launches on `stream`; throws tk::error.
void launch(attention_forward_problem const& x, void* workspace, void* stream);
std::size_t workspace_bytes(attention_forward_problem const& x);

}  // namespace tk
