// SPDX-License-Identifier: MIT
// cuBLASLt as a peer of gemm, through its C interface by dlopen (cuBLAS documentation, "Using the
// cuBLASLt API"). It thinks in column-major order, where our row-major d is d^T = op(b)^T op(a)^T:
// its left operand is our b. The algorithm is the first that its heuristic names, with 32 MiB of
// workspace, which its documentation recommends for Hopper.
#include "benchmarks/gemm/peers.hpp"

#include <cstdint>
#include <memory>
#include <stdexcept>

#include "backends/runtime.hpp"
#include "benchmarks/shared_library.hpp"

namespace tk::bench {
namespace {

// Names and values of cublasLt.h and library_types.h, as far as they are needed.
enum data_type : int { real_fp32 = 0, real_fp16 = 2, real_bf16 = 14 };
enum compute_type : int { compute_32f = 68 };
enum matmul_attribute : int {
  matmul_transa = 3,
  matmul_transb = 4,
  matmul_epilogue = 7,
  matmul_bias_pointer = 8
};
enum layout_attribute : int { layout_batch_count = 5, layout_batch_stride = 6 };
enum preference_attribute : int { preference_workspace_bytes = 1 };
constexpr std::uint32_t epilogue_none = 1, epilogue_relu = 2, epilogue_bias = 4, epilogue_gelu = 32;

struct heuristic_result {
  std::uint64_t algorithm[8];
  std::size_t workspace_bytes;
  int status;
  float waves;
  int reserved[4];
};

struct cublaslt_api {
  shared_library library{"libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so"};
  std::size_t (*version)();
  char const* (*status_string)(int);
  int (*create)(void**);
  int (*matmul_desc_create)(void**, compute_type, data_type);
  int (*matmul_desc_set)(void*, matmul_attribute, void const*, std::size_t);
  int (*matmul_desc_destroy)(void*);
  int (*layout_create)(void**, data_type, std::uint64_t, std::uint64_t, std::int64_t);
  int (*layout_set)(void*, layout_attribute, void const*, std::size_t);
  int (*layout_destroy)(void*);
  int (*preference_create)(void**);
  int (*preference_set)(void*, preference_attribute, void const*, std::size_t);
  int (*preference_destroy)(void*);
  int (*heuristic)(void*, void*, void*, void*, void*, void*, void*, int, heuristic_result*, int*);
  int (*matmul)(void*, void*, void const*, void const*, void*, void const*, void*, void const*,
                void const*, void*, void*, void*, void const*, void*, std::size_t, void*);
  void* handle = nullptr;

  cublaslt_api() {
    if (!library) throw std::runtime_error("libcublasLt was not found");
    library.find(version, "cublasLtGetVersion");
    library.find(status_string, "cublasLtGetStatusString");
    library.find(create, "cublasLtCreate");
    library.find(matmul_desc_create, "cublasLtMatmulDescCreate");
    library.find(matmul_desc_set, "cublasLtMatmulDescSetAttribute");
    library.find(matmul_desc_destroy, "cublasLtMatmulDescDestroy");
    library.find(layout_create, "cublasLtMatrixLayoutCreate");
    library.find(layout_set, "cublasLtMatrixLayoutSetAttribute");
    library.find(layout_destroy, "cublasLtMatrixLayoutDestroy");
    library.find(preference_create, "cublasLtMatmulPreferenceCreate");
    library.find(preference_set, "cublasLtMatmulPreferenceSetAttribute");
    library.find(preference_destroy, "cublasLtMatmulPreferenceDestroy");
    library.find(heuristic, "cublasLtMatmulAlgoGetHeuristic");
    library.find(matmul, "cublasLtMatmul");
    check(create(&handle), "cublasLtCreate");
  }
  void check(int status, char const* what) const {
    if (status != 0) throw std::runtime_error(std::string(what) + ": " + status_string(status));
  }
};

// Throws std::runtime_error with the reason where there is none.
cublaslt_api const& api() {
  static cublaslt_api const the_api;
  return the_api;
}

data_type type_of(tensor const& x) {
  return x.type() == dtype::bf16 ? real_bf16 : x.type() == dtype::fp16 ? real_fp16 : real_fp32;
}

// One product, its descriptors and workspace; run() enqueues it.
class product {
 public:
  explicit product(gemm_operands const& x)
      : left_(x.b->data()), right_(x.a->data()), out_(x.d->data()) {
    void* made = nullptr;
    api().check(api().matmul_desc_create(&made, compute_32f, real_fp32), "descriptor");
    matmul_ = object(made, api().matmul_desc_destroy);
    std::int32_t const transpose_left = x.transpose_b, transpose_right = x.transpose_a;
    set(matmul_transa, transpose_left);
    set(matmul_transb, transpose_right);
    std::uint32_t const kind = epilogue_of(x);
    set(matmul_epilogue, kind);
    if (x.bias_kind == TK_BIAS_ROW) {
      void const* const bias = x.bias->data();
      set(matmul_bias_pointer, bias);
    }
    left_layout_ = layout(*x.b, x.batch);
    right_layout_ = layout(*x.a, x.batch);
    out_layout_ = layout(*x.d, x.batch);
    choose();
  }

  void run() const {
    float const alpha = 1, beta = 0;
    api().check(api().matmul(api().handle, matmul_.get(), &alpha, left_, left_layout_.get(), right_,
                             right_layout_.get(), &beta, out_, out_layout_.get(), out_,
                             out_layout_.get(), chosen_.algorithm, workspace_.data(),
                             static_cast<std::size_t>(workspace_.bytes()), nullptr),
                "cublasLtMatmul");
  }

 private:
  using object = std::shared_ptr<void>;  // with cuBLASLt's own destructor

  template <class T> void set(matmul_attribute what, T const& value) {
    api().check(api().matmul_desc_set(matmul_.get(), what, &value, sizeof value), "attribute");
  }

  static std::uint32_t epilogue_of(gemm_operands const& x) {
    if (x.bias_kind == TK_BIAS_COLUMN)
      throw std::runtime_error("it adds no bias along a row-major result's columns");
    std::uint32_t const bias = x.bias_kind == TK_BIAS_ROW ? epilogue_bias : 0;
    switch (x.activation) {
      case TK_ACTIVATION_NONE: return bias ? bias : epilogue_none;
      case TK_ACTIVATION_RELU: return epilogue_relu | bias;
      case TK_ACTIVATION_GELU_TANH: return epilogue_gelu | bias;
      default: throw std::runtime_error("it has no epilogue with this activation");
    }
  }

  // A row-major [rows, cols] is a column-major [cols, rows] with the same leading dimension.
  static object layout(tensor const& x, std::int64_t batch) {
    auto const& shape = x.shape();
    std::int64_t const rows = shape[shape.size() - 2], cols = shape.back(), step = rows * cols;
    std::int32_t const count = static_cast<std::int32_t>(batch);
    void* made = nullptr;
    api().check(api().layout_create(&made, type_of(x), static_cast<std::uint64_t>(cols),
                                    static_cast<std::uint64_t>(rows), cols),
                "layout");
    object const owner(made, api().layout_destroy);
    api().check(api().layout_set(made, layout_batch_count, &count, sizeof count), "batch");
    api().check(api().layout_set(made, layout_batch_stride, &step, sizeof step), "batch stride");
    return owner;
  }

  void choose() {
    void* made = nullptr;
    api().check(api().preference_create(&made), "preference");
    object const preference(made, api().preference_destroy);
    std::uint64_t const bytes = static_cast<std::uint64_t>(workspace_.bytes());
    api().check(api().preference_set(made, preference_workspace_bytes, &bytes, sizeof bytes),
                "workspace");
    int found = 0;
    api().check(
        api().heuristic(api().handle, matmul_.get(), left_layout_.get(), right_layout_.get(),
                        out_layout_.get(), out_layout_.get(), made, 1, &chosen_, &found),
        "cublasLtMatmulAlgoGetHeuristic");
    if (found < 1) throw std::runtime_error("its heuristic names no algorithm");
  }

  object matmul_, left_layout_, right_layout_, out_layout_;
  void const *left_, *right_;
  void* out_;
  tensor workspace_{dtype::fp32, {8 << 20}};  // 32 MiB
  heuristic_result chosen_{};
};

std::string version() {
  try {
    return be::rt::dl_device_type == kDLCUDA ? std::to_string(api().version()) : "";
  } catch (std::runtime_error const&) { return ""; }
}
peer_entry const entry{"cublaslt", version};

}  // namespace

void add_cublaslt(peer_list& peers, gemm_operands const& x) {
  if (be::rt::dl_device_type != kDLCUDA) return;
  try {
    auto const made = std::make_shared<product>(x);
    peers.present.push_back({"cublaslt", [made] { made->run(); }});
  } catch (std::runtime_error const& reason) {
    peers.absent.push_back({"cublaslt", reason.what()});
  }
}

}  // namespace tk::bench
