// SPDX-License-Identifier: MIT
// The C functions: check, then launch. No exception leaves them; each becomes a status and this
// thread's sentence, which lives in a fixed buffer so that remembering it cannot fail.
#include <cstdio>
#include <new>

#include "backends/runtime.hpp"
#include "ops/api/check.hpp"

namespace tk::api {
namespace {

constexpr bool same(tk_status x, status y) { return static_cast<int>(x) == static_cast<int>(y); }
static_assert(same(TK_OK, status::ok) && same(TK_NULL_POINTER, status::null_pointer) &&
              same(TK_BAD_STRUCT, status::bad_struct) && same(TK_BAD_DEVICE, status::bad_device) &&
              same(TK_BAD_TYPE, status::bad_type) && same(TK_BAD_RANK, status::bad_rank) &&
              same(TK_BAD_SHAPE, status::bad_shape) && same(TK_BAD_STRIDE, status::bad_stride) &&
              same(TK_BAD_ALIGNMENT, status::bad_alignment) &&
              same(TK_BAD_OVERLAP, status::bad_overlap) && same(TK_BAD_VALUE, status::bad_value) &&
              same(TK_SMALL_WORKSPACE, status::small_workspace) &&
              same(TK_UNSUPPORTED, status::unsupported) &&
              same(TK_WRONG_CHIP, status::wrong_chip) &&
              same(TK_RUNTIME_ERROR, status::runtime_error) &&
              same(TK_INTERNAL_ERROR, status::internal_error));

template <class Theirs, class Ours> constexpr bool alike(Theirs x, Ours y) {
  return static_cast<int>(x) == static_cast<int>(y);
}
static_assert(alike(TK_ACTIVATION_NONE, activation_kind::none) &&
              alike(TK_ACTIVATION_RELU, activation_kind::relu) &&
              alike(TK_ACTIVATION_SILU, activation_kind::silu) &&
              alike(TK_ACTIVATION_GELU_TANH, activation_kind::gelu_tanh) &&
              alike(TK_ACTIVATION_GELU_ERF, activation_kind::gelu_erf));
static_assert(alike(TK_BIAS_NONE, bias_kind::none) && alike(TK_BIAS_ROW, bias_kind::row) &&
              alike(TK_BIAS_COLUMN, bias_kind::column));
static_assert(alike(TK_NORM_LAYER, norm_kind::layer) && alike(TK_NORM_RMS, norm_kind::rms));
static_assert(alike(TK_MASK_NONE, mask_kind::none) && alike(TK_MASK_CAUSAL, mask_kind::causal));

constexpr std::size_t workspace_alignment = 16;
static_assert(TK_COUNTER_BYTES == counter_bytes);

thread_local char last_error[1024] = "";

tk_status remember(char const* call, status code, char const* sentence) {
  std::snprintf(last_error, sizeof last_error, "%s: %s", call, sentence);
  return static_cast<tk_status>(code);
}

template <class Body> tk_status guarded(char const* call, Body const& body) noexcept {
  try {
    body();
    return TK_OK;
  } catch (error const& e) {
    return remember(call, e.code(), e.what());
  } catch (std::bad_alloc const&) {
    return remember(call, status::runtime_error, "the host is out of memory");
  } catch (std::exception const& e) {
    return remember(call, status::internal_error, e.what());
  } catch (...) { return remember(call, status::internal_error, "an unknown exception"); }
}

template <class Problem> std::size_t workspace_of(checked<Problem> const& x) {
  return x.empty ? 0 : workspace_bytes(x.problem);
}

template <class Problem>
void check_workspace(checked<Problem> const& x, void* workspace, std::size_t bytes) {
  static constexpr signature workspace_is{"workspace", 0, 1, 1, {"bytes"}};
  auto const needed = workspace_of(x);
  if (needed == 0) return;
  if (!workspace) {
    refuse(status::null_pointer, "workspace is NULL; the problem needs ", needed, " bytes");
  }
  if (bytes < needed) {
    refuse(status::small_workspace, "workspace_bytes is ", bytes, "; the problem needs ", needed);
  }
  view given;
  given.is = &workspace_is;
  given.data = workspace;
  given.address = reinterpret_cast<std::uintptr_t>(workspace);
  given.size = {static_cast<std::int64_t>(needed), 1, 1, 1};
  given.stride = {1};
  if (given.address % workspace_alignment != 0) {
    refuse(status::bad_alignment, "workspace at ", workspace, " is not aligned to ",
           workspace_alignment, " bytes");
  }
  for (auto const& tensor : x.tensors) expect_apart(given, tensor);
}

template <class Given>
void check_and_launch(Given const* given, void* workspace, std::size_t bytes, void* stream) {
  auto const x = check(given, true);
  if (x.empty) return;
  check_workspace(x, workspace, bytes);
  launch(x.problem, workspace, stream);
}

std::size_t query(tk_op const& op, void const* problem) {
  auto const ask = [](auto const& x) {
    be::rt::require_chip();
    return workspace_of(x);
  };
  switch (expect_below("op", op, 3)) {
    case TK_OP_GEMM: return ask(check(static_cast<tk_gemm_problem const*>(problem), false));
    case TK_OP_ATTENTION_FORWARD:
      return ask(check(static_cast<tk_attention_forward_problem const*>(problem), false));
    default: return ask(check(static_cast<tk_norm_problem const*>(problem), false));
  }
}

constexpr char const* status_names[] = {"TK_OK",
                                        "TK_NULL_POINTER",
                                        "TK_BAD_STRUCT",
                                        "TK_BAD_DEVICE",
                                        "TK_BAD_TYPE",
                                        "TK_BAD_RANK",
                                        "TK_BAD_SHAPE",
                                        "TK_BAD_STRIDE",
                                        "TK_BAD_ALIGNMENT",
                                        "TK_BAD_OVERLAP",
                                        "TK_BAD_VALUE",
                                        "TK_SMALL_WORKSPACE",
                                        "TK_UNSUPPORTED",
                                        "TK_WRONG_CHIP",
                                        "TK_RUNTIME_ERROR",
                                        "TK_INTERNAL_ERROR"};

}  // namespace
}  // namespace tk::api

using namespace tk::api;

tk_status tk_gemm(tk_gemm_problem const* problem, void* workspace, size_t workspace_bytes,
                  void* stream) {
  return guarded("tk_gemm", [&] { check_and_launch(problem, workspace, workspace_bytes, stream); });
}

tk_status tk_attention_forward(tk_attention_forward_problem const* problem, void* workspace,
                               size_t workspace_bytes, void* stream) {
  return guarded("tk_attention_forward",
                 [&] { check_and_launch(problem, workspace, workspace_bytes, stream); });
}

tk_status tk_norm(tk_norm_problem const* problem, void* workspace, size_t workspace_bytes,
                  void* stream) {
  return guarded("tk_norm", [&] { check_and_launch(problem, workspace, workspace_bytes, stream); });
}

tk_status tk_workspace(tk_op op, void const* problem, size_t* bytes) {
  return guarded("tk_workspace", [&] {
    if (!bytes) refuse(tk::status::null_pointer, "bytes is NULL");
    *bytes = query(op, problem);
  });
}

tk_status tk_supports(tk_op op, void const* problem) {
  return guarded("tk_supports", [&] { query(op, problem); });
}

char const* tk_last_error(void) { return last_error; }

char const* tk_status_name(tk_status status) {
  int const number = number_of(status);
  return number >= 0 && number < int(std::size(status_names)) ? status_names[number]
                                                              : "not a tk_status";
}

int tk_device_type(void) { return static_cast<int>(tk::be::rt::dl_device_type); }
