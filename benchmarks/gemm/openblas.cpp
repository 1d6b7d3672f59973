// SPDX-License-Identifier: MIT
// OpenBLAS's product of fp32 matrices as a peer of gemm on the host, through CBLAS by dlopen
// (netlib.org/blas, "C interface to the legacy BLAS"). Its operands are the same numbers, widened
// beforehand, so it computes what gemm with an fp32 result does.
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <vector>

#include "backends/runtime.hpp"
#include "benchmarks/gemm/peers.hpp"
#include "benchmarks/shared_library.hpp"

namespace tk::bench {
namespace {

// Names and values of cblas.h, as far as they are needed.
enum order : int { row_major = 101 };
enum transposed : int { no_trans = 111, trans = 112 };

struct openblas_api {
  shared_library library{"libopenblas.so.0", "libopenblas.so"};
  char const* (*config)();
  void (*sgemm)(order, transposed, transposed, int, int, int, float, float const*, int,
                float const*, int, float, float*, int);

  openblas_api() {
    if (!library) throw std::runtime_error("libopenblas was not found");
    library.find(config, "openblas_get_config");
    library.find(sgemm, "cblas_sgemm");
  }
};

// Throws std::runtime_error with the reason where there is none.
openblas_api const& api() {
  static openblas_api const the_api;
  return the_api;
}

std::vector<float> widened(tensor const& x) {
  std::vector<double> all(static_cast<std::size_t>(x.size()));
  x.read(all.data(), 0, x.size());
  return {all.begin(), all.end()};
}

class product {
 public:
  explicit product(gemm_operands const& x)
      : of_(x), a_(widened(*x.a)), b_(widened(*x.b)), d_(static_cast<float*>(x.d->data())) {
    if (x.d->type() != dtype::fp32) throw std::runtime_error("its result is fp32 (out=fp32)");
    if (x.bias_kind != TK_BIAS_NONE || x.activation != TK_ACTIVATION_NONE)
      throw std::runtime_error("it has no bias and no activation");
    (void)api();
  }

  void run() const {
    auto const m = static_cast<int>(of_.m), n = static_cast<int>(of_.n),
               k = static_cast<int>(of_.k);
    for (std::int64_t i = 0; i < of_.batch; ++i)
      api().sgemm(row_major, of_.transpose_a ? trans : no_trans, of_.transpose_b ? trans : no_trans,
                  m, n, k, 1, a_.data() + i * m * k, of_.transpose_a ? m : k, b_.data() + i * k * n,
                  of_.transpose_b ? k : n, 0, d_ + i * m * n, n);
  }

 private:
  gemm_operands of_;
  std::vector<float> a_, b_;
  float* d_;
};

std::string version() {
  try {
    return be::rt::dl_device_type == kDLCPU ? api().config() : "";
  } catch (std::runtime_error const&) { return ""; }
}
peer_entry const entry{"openblas", version};

}  // namespace

void add_openblas(peer_list& peers, gemm_operands const& x) {
  if (be::rt::dl_device_type != kDLCPU) return;
  try {
    auto const made = std::make_shared<product>(x);
    peers.present.push_back({"openblas", [made] { made->run(); }});
  } catch (std::runtime_error const& reason) {
    peers.absent.push_back({"openblas", reason.what()});
  }
}

}  // namespace tk::bench
