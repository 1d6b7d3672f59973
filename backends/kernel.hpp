// SPDX-License-Identifier: MIT
// All that an op needs of the chosen backend: shared tiles and movement, products, the block
// template, launch.
// The rule for names: verbs are written without a prefix (load, store, signal, window, cast, ...);
// be:: stands before what a backend chooses (be::source, be::sink, be::arrival, be::worker,
// be::staging, be::launch, capabilities). Inside a struct that has a member `load` of
// its own, as every op has, the verb is tk::load.
#pragma once
#include "backends/backend.hpp"

#include TK_BACKEND(copy.hpp)
#include TK_BACKEND(mma.hpp)
#include TK_BACKEND(sync.hpp)
#include TK_BACKEND(block.hpp)
#include TK_BACKEND(launch.hpp)

namespace tk {

using be::count_up;
using be::load;
using be::load_async;
using be::load_shared;
using be::load_transposed;
using be::own_warp;
using be::peek_count;
using be::reserve;
using be::signal;
using be::store;
using be::store_async;
using be::wait_for;
using be::wait_for_count;
using be::wait_stores_read;
using be::wait_to_add;

}  // namespace tk
