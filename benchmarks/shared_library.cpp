// SPDX-License-Identifier: MIT
// Libraries opened at run time (shared_library.hpp).
#include "benchmarks/shared_library.hpp"

#include <dlfcn.h>

#include <stdexcept>
#include <string>

namespace tk::bench {

shared_library::shared_library(std::initializer_list<char const*> names) {
  for (char const* name : names)
    if (!handle_) handle_ = dlopen(name, RTLD_NOW | RTLD_LOCAL);
}

void* shared_library::entry(char const* name) const {
  void* const found = handle_ ? dlsym(handle_, name) : nullptr;
  if (!found) throw std::runtime_error(std::string(name) + " is missing");
  return found;
}

}  // namespace tk::bench
