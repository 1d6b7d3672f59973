// SPDX-License-Identifier: MIT
// The forward in fp64, row by row, with the options that benchmarks use; and what a result is off.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "benchmarks/tensors.hpp"
#include "ops/attention/attention_forward.h"

namespace tk::bench {

tk_mask parse_mask(std::string const& name);  // none or causal

// Sequences that lie one after another in q and o, and in k and v.
struct forward_problem {
  std::vector<std::int64_t> nq, nk;  // of each sequence
  std::int64_t hq, hk, d;
  float scale;
  bool causal = false;
  std::int64_t window_left = -1;  // -1: none
  float softcap = 0;
  std::vector<float> alibi = {};  // by head, or none
  int dropout = 0;                // of 256 weights, by seed 0 and offset 0

  // The keys that a row sees: from `first` up to `last`.
  struct range {
    std::int64_t first, last;
    std::int64_t size() const { return last > first ? last - first : 0; }
  };
  range seen(std::size_t sequence, std::int64_t row) const;
  // What the weight of a row and key is multiplied by.
  double kept(std::int64_t sequence, std::int64_t head, std::int64_t row, std::int64_t key) const;
  double pairs() const;  // of query and key that see each other, in one head
};

// Some rows, or all if that is cheap: of each sequence both ends, edges of tiles and a sample, each
// in another head. A right output is rounded once, and the probabilities once between the products,
// each to the floor: that makes sqrt 2 floors, 2 with a margin. lse is fp32 and may be off by 2^-15
// of itself (or of 1), far more than exponentials and logarithms of 22 bits cost; where it is off
// by more, the error is as many limits.
class forward_oracle {
 public:
  // q, k, v are [b, n, h, d], or [n, h, d] of all sequences; they outlive the oracle.
  forward_oracle(forward_problem problem, tensor const& q, tensor const& k, tensor const& v);

  // Where the lse of a sequence's row is, in `lse`.
  using place_of_lse =
      std::function<std::int64_t(std::int64_t sequence, std::int64_t head, std::int64_t row)>;
  verdict compare(tensor const& o, tensor const& lse, place_of_lse const& place);

 private:
  struct reference {
    std::int64_t sequence, head, row;
    double lse;
    std::vector<double> o;
  };
  bool some_row_is_blind() const;
  void choose();
  void compute(reference& x) const;
  void read(std::vector<double>& to, tensor const& x, std::int64_t row, std::int64_t head) const;

  forward_problem problem_;
  tensor const &q_, &k_, &v_;
  std::vector<std::int64_t> q_starts_, k_starts_;
  std::vector<reference> rows_;
};

}  // namespace tk::bench
