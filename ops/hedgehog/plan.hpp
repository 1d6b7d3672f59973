// SPDX-License-Identifier: MIT
// How Hedgehog's sequences lie and are cut: the same for the query, the launches and the kernels.
//   a block    64 tokens, counted from the first key of each sequence: one step of the scan
//   a segment  16 blocks; where a task is of some segments, states at its beginning are sums of
//              whole segments
#pragma once
#include "ops/hedgehog/problem.hpp"
#include "ops/linear_attention/plan.hpp"

namespace tk {

inline constexpr int hedgehog_block = 64, hedgehog_segment = 16, hedgehog_width = 128,
                     hedgehog_features = 64;  // of either sign
inline constexpr float least_feature = 1e-6f, least_sum = 1e-6f;

// Queries and keys of sequences, of a batch or packed.
struct hedgehog_rows {
  scan_rows keys;
  packed_rows queries;  // where packed
  int nq;
  std::int32_t const* lengths;  // keys of each sequence of a batch; null: all

  struct rows_of_block {
    int row, n, shift;  // queries of a block, of which the first one is the shift-th token
  };
  // `n` keys from row `first` on; `nq` queries from row `first_query` on, behind `past` other keys.
  struct place {
    int batch, first, n, first_query, nq, past;
    TK_BOTH rows_of_block queries(int block) const {
      int const from = block * hedgehog_block - past, begin = from > 0 ? from : 0,
                end = from + hedgehog_block < nq ? from + hedgehog_block : nq;
      return {first_query + begin, end > begin ? end - begin : 0, begin - from};
    }
  };
  TK_BOTH place sequence(int s) const {
    auto const k = keys.sequence(s);
    place x{k.batch, k.first, k.n, 0, nq, 0};
    if (keys.is_packed) {
      int const length = queries.length(s);
      x.first_query = queries.start(s);
      x.nq = length > 0 ? length : 0;
    } else if (lengths) {
      int const length = lengths[s];
      x.n = length < 0 ? 0 : length < x.n ? length : x.n;
    }
    x.past = x.n - x.nq;
    if (x.past < 0) {  // the queries before the first key are no tokens
      x.first_query -= x.past;
      x.nq = x.n;
      x.past = 0;
    }
    return x;
  }
};

// z of each sequence and head, 128 numbers.
struct state_sums {
  float* data;
  std::int64_t b_stride, h_stride;
  TK_BOTH float* at(int sequence, int head) const {
    return data + sequence * b_stride + head * h_stride;
  }
};
struct strided_numbers {
  float const* data;
  std::int64_t stride;
  TK_BOTH float at(int i) const { return data[i * stride]; }
};

}  // namespace tk
