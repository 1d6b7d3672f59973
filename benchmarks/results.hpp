// SPDX-License-Identifier: MIT
// Files that tk_bench run and peers.py wrote, read back.
#pragma once
#include <string>
#include <utility>
#include <vector>

namespace tk::bench {

// `intensity` is in operations per byte. Rows without bytes, rates of the chip itself, have none.
struct result_row {
  std::string suite, name, implementation, dtype;
  double ms, flops, bytes;
  double ms_iqr = 0;                                 // 0 in files that do not say
  std::string repeat = "run";                        // that tk was asked for: run or row
  bool moves() const { return flops < 16 * bytes; }  // its rate is one of bytes
  double rate() const { return (moves() ? bytes : flops) / (ms * 1e-3); }
  double intensity() const { return bytes > 0 ? flops / bytes : 0; }
  // By time, where both do the same work; else by rate.
  double speed_over(result_row const& x) const {
    return x.ms / ms * (x.flops > 0 ? flops / x.flops : 1);
  }
};

// Rates of the device by itself; 0 where the file has none.
struct result_ceilings {
  double copy_bytes_per_s = 0, product_flops_per_s = 0, exp2_per_s = 0;
  // Time at the ceilings over the time it took; 0 if a ceiling that it needs is not known.
  double share(result_row const& x) const;
};

struct result {
  std::string path, device, arch, commit, date;
  result_ceilings ceilings;
  std::vector<result_row> rows;
  result_row const* find(std::string const& suite, std::string const& name,
                         std::string const& implementation) const;
};

// Throws std::runtime_error, with a sentence that names the file and what is wrong in it.
result read_result(std::string const& path);

}  // namespace tk::bench
