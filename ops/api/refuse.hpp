// SPDX-License-Identifier: MIT
// How a check says no: refuse(status, parts...) throws an error whose sentence is its parts in a
// row. It names the argument, its value and the limit; the entry points put the call before it.
#pragma once
#include <locale>
#include <sstream>

#include "core/status.hpp"

namespace tk::api {

template <class... Parts> [[noreturn]] void refuse(status code, Parts const&... parts) {
  std::ostringstream sentence;
  sentence.imbue(std::locale::classic());  // no thousands separators, whatever the program's locale
  (sentence << ... << parts);
  throw error(code, sentence.str());
}

}  // namespace tk::api
