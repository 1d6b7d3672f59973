// SPDX-License-Identifier: MIT
// tk_version(), in a source of its own: it alone is compiled anew when only the commit has changed.
// CMake defines TK_VERSION here and nowhere else.
#include "ops/tk_base.h"
#include "tk_commit.hpp"  // cmake/commit_header.cmake

#ifdef TK_EMULATE
#define TK_HOW " emulated "
#else
#define TK_HOW " "
#endif

char const* tk_version(void) { return TK_VERSION " " TK_ARCH_NAME TK_HOW TK_COMMIT; }
