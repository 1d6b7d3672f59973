// SPDX-License-Identifier: MIT
// What a run found: rows, written as JSON and as a table.
#pragma once
#include <string>
#include <vector>

#include "benchmarks/benchmark.hpp"
#include "benchmarks/stopwatch.hpp"

namespace tk::bench {

// Rows of one suite and case are comparable by their rates. `share` is the rate at which a case's
// bytes moved, each once, as a share of the measured copy rate.
struct row {
  std::string suite, name, implementation;
  dtype type;
  tk_repeat repeat;  // that tk was asked for
  timing time;
  double flops, bytes, error, share;
};

// What suite ceilings found: the rate of its first copy, of products and of exponentials; 0 where
// it was not measured.
struct ceilings {
  struct copied {
    double bytes, bytes_per_s;
  };
  double copy_bytes_per_s = 0, product_flops_per_s = 0, exp2_per_s = 0;
  std::vector<copied> copies;
  void add(bench_case const& x, row const& found);
};

struct report {
  std::string commit;
  ceilings limits;
  std::vector<row> rows;
  std::vector<std::string> failures, remarks;

  void print_head(int repeats, tk_repeat repeat) const;
  void print_case(bench_case const& x, std::vector<row> const& found) const;
  void print_tail() const;  // geometric means over each peer's cases, failures, remarks
  void write_json(std::string const& path) const;
};

}  // namespace tk::bench
