// SPDX-License-Identifier: MIT
// What all C functions share, and those that are no op's. The sentence lives in a fixed buffer, so
// that remembering it cannot fail.
#include "ops/api/entry.hpp"

#include <cstdio>

#include "ops/tk_op.h"
#include "ops/tk_op_list.hpp"

namespace tk::api {

#define TK_DECLARE_QUERY(NUMBER, NAME, ENUMERATOR) std::size_t query_##NAME(void const* problem);
TK_FOR_EACH_OP(TK_DECLARE_QUERY)
#undef TK_DECLARE_QUERY

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
static_assert(static_cast<int>(TK_REPEAT_ROW) == static_cast<int>(repeat_kind::row));
static_assert(static_cast<int>(TK_MASK_NONE) == static_cast<int>(mask_kind::none) &&
              static_cast<int>(TK_MASK_CAUSAL) == static_cast<int>(mask_kind::causal));

constexpr std::size_t workspace_alignment = 16;
static_assert(TK_COUNTER_BYTES == counter_bytes);

thread_local char last_error[1024] = "";

std::size_t query(int op, void const* problem) {
  switch (op) {
#define TK_ASK(NUMBER, NAME, ENUMERATOR) \
  case NUMBER: return query_##NAME(problem);
    TK_FOR_EACH_OP(TK_ASK)
#undef TK_ASK
  }
  std::string known;
#define TK_NAME(NUMBER, NAME, ENUMERATOR) \
  known += (known.empty() ? "" : ", ") + std::string(#ENUMERATOR);
  TK_FOR_EACH_OP(TK_NAME)
#undef TK_NAME
  refuse(status::bad_value, "op is ", op, "; this library has ", known);
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

tk_status remember(char const* call, status code, char const* sentence) noexcept {
  std::snprintf(last_error, sizeof last_error, "%s: %s", call, sentence);
  return static_cast<tk_status>(code);
}

void read_struct(char const* name, void const* given, std::size_t first, void* known,
                 std::size_t known_bytes) {
  constexpr std::size_t largest = 1024;  // of any version: a wild size must not lead far
  if (!given) refuse(status::null_pointer, name, " is NULL");
  std::size_t size;
  std::memcpy(&size, given, sizeof size);
  if (size < first || size > largest || size % sizeof size != 0) {
    refuse(status::bad_struct, name, "'s size is ", size, "; this library knows ", known_bytes,
           " bytes, its first version had ", first, ", none has more than ", largest,
           ", and all are multiples of ", sizeof size);
  }
  auto const* const bytes = static_cast<unsigned char const*>(given);
  for (std::size_t i = known_bytes; i < size; ++i) {
    if (bytes[i] == 0) continue;
    refuse(status::bad_struct, name, "'s size is ", size, "; this library knows ", known_bytes,
           " bytes, and the byte at ", i, " is ", int(bytes[i]), " where it must be 0");
  }
  std::memcpy(known, given, size < known_bytes ? size : known_bytes);
}

void check_workspace(std::size_t needed, void* workspace, std::size_t bytes, view const* tensors,
                     std::size_t count) {
  static constexpr signature workspace_is{"workspace", 0, 1, 1, {"bytes"}};
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
  for (std::size_t i = 0; i < count; ++i) expect_apart(given, tensors[i]);
}

}  // namespace tk::api

using namespace tk::api;

tk_status tk_workspace(tk_op op, void const* problem, size_t* bytes) {
  return guarded("tk_workspace", [&] {
    if (!bytes) refuse(tk::status::null_pointer, "bytes is NULL");
    *bytes = query(number_of(op), problem);
  });
}

tk_status tk_supports(tk_op op, void const* problem) {
  return guarded("tk_supports", [&] { query(number_of(op), problem); });
}

char const* tk_last_error(void) { return last_error; }

char const* tk_status_name(tk_status status) {
  int const number = number_of(status);
  return number >= 0 && number < int(std::size(status_names)) ? status_names[number]
                                                              : "not a tk_status";
}

int tk_device_type(void) { return static_cast<int>(tk::be::rt::dl_device_type); }
