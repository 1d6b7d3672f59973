// SPDX-License-Identifier: MIT
// A case made ready to run: operands on the device, the call of tk and those of its peers, and the
// oracle that each result is compared with. Every implementation writes the same outputs.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "benchmarks/cases.hpp"
#include "benchmarks/tensors.hpp"

namespace tk::bench {

struct implementation {
  std::string name;
  std::function<void()> call;  // enqueues the work once, on the default stream; throws tk::error
  bool writes_lse = false;     // attention only
};

// A peer that could not be had, with the reason.
struct absence {
  std::string name, reason;
};
struct peer_list {
  std::vector<implementation> present;
  std::vector<absence> absent;
};

class benchmark {
 public:
  virtual ~benchmark() = default;
  virtual dtype type() const = 0;
  virtual double flops() const = 0;  // 0 where memory is what counts
  virtual double bytes() const = 0;  // every input and output once
  virtual implementation tk() = 0;
  virtual peer_list peers() = 0;
  virtual std::vector<tensor*> outputs() = 0;
  virtual verdict compare(implementation const& x) = 0;  // what the outputs hold, with the oracle
};

std::unique_ptr<benchmark> make_benchmark(bench_case const& x);
std::unique_ptr<benchmark> make_gemm(bench_case const& x);
std::unique_ptr<benchmark> make_attention(bench_case const& x);
std::unique_ptr<benchmark> make_ceiling(bench_case const& x);
std::unique_ptr<benchmark> make_norm(bench_case const& x);

// Throws tk::error with the library's sentence unless `status` is TK_OK.
void check(tk_status status);

// The workspace that a problem asks for, zeroed.
tensor make_workspace(tk_op op, void const* problem);

}  // namespace tk::bench
