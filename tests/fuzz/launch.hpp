// SPDX-License-Identifier: MIT
// The device's part of the library, in place of the compiled kernels. What stands in for an op's
// kernels (tests/ops/<folder>/fuzz_launch.cpp) begins with begin(), holds the problem that it is
// given against what the caller said, and ends with touch(), which reads every input and turns over
// every bit of each output element and of the workspace's rim. An element written twice, or written
// as an input is read, would show.
#pragma once
#include "core/element.hpp"
#include "ops/tensors.hpp"
#include "tests/fuzz/oracle.hpp"

namespace fuzz {

// The call that runs, and how often it has launched.
struct running_call {
  seen_call const* seen = nullptr;
  void* workspace = nullptr;
  std::size_t needed = 0;
  void* stream = nullptr;
  int launches = 0;
};
inline running_call running;

// `workspace`: what the launch was given; NULL will do where the problem needs none.
seen_call const& begin(tk_op op, void* workspace, void* stream);
void touch();

void agree(tk::any_tensor const& x, seen_tensor const& t);
void agree(tk::matrix const& x, seen_tensor const& t);

// Data of a tensor that need not be there.
template <class T> void at(T const* data, seen_tensor const& t, char const* what) {
  bool const there = t.looked_at && !t.empty();
  require(there ? address_of(data) == t.address : data == nullptr, what);
}
// Is T the element type of x?
template <class T> bool is_of(tk::any_tensor const& x);
template <> bool is_of<tk::bf16>(tk::any_tensor const& x);
template <> bool is_of<tk::fp16>(tk::any_tensor const& x);
template <> bool is_of<float>(tk::any_tensor const& x);

}  // namespace fuzz
