// SPDX-License-Identifier: MIT
// The C functions of an op: check, then launch. TK_ENTRY(name, first, check) defines tk_<name>()
// and what tk_supports() and tk_workspace() ask of it; `first` is the first field that its struct's
// first version did not have, check(given, data) gives a checked<...>. No exception leaves a C
// function: each becomes a status and this thread's sentence.
#pragma once
#include <cstddef>
#include <exception>
#include <new>

#include "ops/api/check.hpp"

namespace tk::api {

// Keeps the sentence for tk_last_error(); it cannot fail.
tk_status remember(char const* call, status code, char const* sentence) noexcept;

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

// Copies the given bytes of a problem's struct to the `known` ones of this library's, which are
// zero; refuses a struct that is shorter than `first`, its first version, or that has anything but
// zeros behind what this library knows.
void read_struct(char const* name, void const* given, std::size_t first, void* known,
                 std::size_t known_bytes);

template <class Given>
Given known_part(Given const* given, std::size_t first, char const* name = "problem") {
  Given known{};
  read_struct(name, given, first, &known, sizeof known);
  return known;
}

void check_workspace(std::size_t needed, void* workspace, std::size_t bytes, view const* tensors,
                     std::size_t count);

template <class Checked> std::size_t workspace_of(Checked const& x) {
  return x.empty ? 0 : workspace_bytes(x.problem);
}

template <class Checked>
void launch_checked(Checked const& x, void* workspace, std::size_t bytes, void* stream) {
  if (x.empty) return;
  check_workspace(workspace_of(x), workspace, bytes, x.tensors.data(), x.tensors.size());
  launch(x.problem, workspace, stream);
}

template <class Checked> std::size_t answer_query(Checked const& x) {
  be::rt::require_chip();
  return workspace_of(x);
}

}  // namespace tk::api

#define TK_ENTRY(NAME, FIRST, CHECK)                                                            \
  tk_status tk_##NAME(tk_##NAME##_problem const* problem, void* workspace,                      \
                      std::size_t workspace_bytes, void* stream) {                              \
    return tk::api::guarded("tk_" #NAME, [&] {                                                  \
      auto const given = tk::api::known_part(problem, offsetof(tk_##NAME##_problem, FIRST));    \
      auto const x = tk::api::CHECK(given, true);                                               \
      tk::api::launch_checked(x, workspace, workspace_bytes, stream);                           \
    });                                                                                         \
  }                                                                                             \
  namespace tk::api {                                                                           \
  std::size_t query_##NAME(void const* problem) {                                               \
    auto const* const given = static_cast<tk_##NAME##_problem const*>(problem);                 \
    return answer_query(CHECK(known_part(given, offsetof(tk_##NAME##_problem, FIRST)), false)); \
  }                                                                                             \
  }
