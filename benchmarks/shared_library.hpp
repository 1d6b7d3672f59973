// SPDX-License-Identifier: MIT
// A shared library looked for at run time, so that peers are not needed to build.
#pragma once
#include <initializer_list>

namespace tk::bench {

// It may be missing; entry points are looked up by name.
class shared_library {
 public:
  shared_library(std::initializer_list<char const*> names);  // the first that opens
  explicit operator bool() const { return handle_ != nullptr; }
  // Throws std::runtime_error if the library lacks it.
  template <class F> void find(F*& function, char const* name) const {
    function = reinterpret_cast<F*>(entry(name));
  }

 private:
  void* entry(char const* name) const;
  void* handle_ = nullptr;
};

}  // namespace tk::bench
