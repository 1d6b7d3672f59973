// SPDX-License-Identifier: MIT
// One call of the C interface made from bytes, put to tk_supports, tk_workspace and the launch
// itself. Whatever the call, a status is known and is the one that the oracle expects, a refusal
// has a sentence and writes nothing, the answers agree with each other, and a launch writes the
// output's elements and its workspace, and leaves the counters zero. libFuzzer supplies main() and
// bytes that it chooses by what they reach; calls.cpp does it with random ones.
#include "tests/fuzz/fuzz.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "tests/fuzz/generate.hpp"
#include "tests/fuzz/launch.hpp"

namespace fuzz {
namespace {

struct answer {
  tk_status status;
  std::string sentence;  // without the call's name
};

// Calls `body`, and looks at how it answers.
template <class Body> answer ask(char const* name, Body const& body) {
  std::string const before = tk_last_error();
  tk_status const status = body();
  std::string const sentence = tk_last_error(), prefix = std::string(name) + ": ";
  require(status >= TK_OK && status < TK_RUNTIME_ERROR, "a status that no check gives");
  if (status == TK_OK) {
    require(sentence == before, "a success that leaves a sentence");
    return {status, ""};
  }
  require(sentence.starts_with(prefix), "a sentence that does not begin with the call's name");
  require(sentence.size() > prefix.size() && sentence.size() < 1024, "an empty sentence");
  require(std::strncmp(tk_status_name(status), "TK_", 3) == 0, "a status without a name");
  return {status, sentence.substr(prefix.size())};
}

void expect(answer const& got, faults const& f) {
  bool const intricate = got.status == TK_BAD_OVERLAP &&
                         got.sentence.find("too intricate to tell") != std::string::npos;
  if (got.status == TK_OK) require(f.must == 0, "a problem with faults is accepted");
  else require(intricate || ((f.must | f.may) & bit(got.status)), "a refusal without that fault");
}

// What the query says: the status, and the workspace where it is TK_OK.
answer query(call_spec const& x, void const* problem, seen_call const& seen, std::size_t& needed) {
  constexpr std::size_t untouched = 0x5a5a5a5a;
  needed = untouched;
  auto const supports = ask("tk_supports", [&] { return tk_supports(x.op->number, problem); });
  auto const sized =
      ask("tk_workspace", [&] { return tk_workspace(x.op->number, problem, &needed); });
  require(supports.status == sized.status && supports.sentence == sized.sentence,
          "tk_supports and tk_workspace differ");
  require(sized.status == TK_OK || needed == untouched, "a refusal writes the workspace's size");
  expect(supports, seen.by_query);
  auto const nowhere =
      ask("tk_workspace", [&] { return tk_workspace(x.op->number, problem, nullptr); });
  require(nowhere.status == TK_NULL_POINTER, "tk_workspace takes NULL for bytes");
  return supports;
}

struct workspace {
  void* at = nullptr;
  std::size_t bytes = 0;
};

// In the pool it ends where the pool does, so that a write past it is seen.
workspace place_workspace(call_spec const& x, std::size_t needed) {
  workspace w;
  w.bytes = needed + static_cast<std::size_t>(x.workspace_more);
  if (x.where == workspace_in::arena) {
    w.at = arena + x.workspace_shift % arena_bytes;
  } else if (x.where == workspace_in::pool) {
    auto const room = std::min(needed, pool_bytes);
    auto const offset = (pool_bytes - room) / 16 * 16;
    w.at = pool + (offset > x.workspace_shift ? offset - x.workspace_shift : 0);
  }
  return w;
}

void prepare_memory(workspace const& w) {
  static auto const pattern = [] {
    std::array<unsigned char, arena_bytes> bytes;
    for (std::size_t i = 0; i < arena_bytes; ++i)
      bytes[i] = static_cast<unsigned char>(i * 167 >> 3);
    return bytes;
  }();
  std::memcpy(arena, pattern.data(), arena_bytes);
  auto const from = address_of(w.at);
  if (from >= address_of(arena) && from < address_of(arena + arena_bytes)) {
    auto const room = static_cast<std::size_t>(address_of(arena + arena_bytes) - from);
    std::memset(w.at, 0, std::min(room, tk::counter_bytes));
  }
}

// The arena as a launch must leave it, but for the workspace after its counters.
void expect_memory(unsigned char* before, seen_call const& seen, workspace const& w,
                   std::size_t needed, bool launched) {
  if (launched && seen.touchable()) {
    for (std::size_t i = 0; i < seen.tensors.size(); ++i) {
      auto const& t = seen.tensors[i];
      if (!seen.is_written(i)) continue;
      for (auto const at : t.elements())
        for (int byte = 0; byte < t.width; ++byte) {
          auto& x = before[static_cast<std::size_t>(at - address_of(arena)) + std::size_t(byte)];
          x = static_cast<unsigned char>(~x);
        }
    }
  }
  auto const from = address_of(w.at), to = from + wide(needed);
  if (launched && needed > tk::counter_bytes && in_arena(from, to)) {
    auto const offset = static_cast<std::size_t>(from - address_of(arena)) + tk::counter_bytes;
    std::memcpy(before + offset, arena + offset, needed - tk::counter_bytes);
  }
  require(std::memcmp(before, arena, arena_bytes) == 0, "memory was written that is no output");

  if (from < address_of(pool) || from >= address_of(pool + pool_bytes)) return;
  if (launched && in_pool(from, to) && needed > tk::counter_bytes)
    std::memset(static_cast<char*>(w.at) + tk::counter_bytes, 0, needed - tk::counter_bytes);
  bool const zero = pool[0] == 0 && std::memcmp(pool, pool + 1, pool_bytes - 1) == 0;
  require(zero, "counters that are not zero, or a write outside the workspace");
}

outcome run(call_spec const& x) {
  built const made(x);
  auto const* problem = made.problem();
  auto const seen = look(x);
  std::size_t needed;
  auto const asked = query(x, problem, seen, needed);
  if (asked.status != TK_OK) needed = 0;

  auto expected = seen.by_launch();
  auto const w = place_workspace(x, needed);
  prepare_memory(w);
  static unsigned char before[arena_bytes];
  std::memcpy(before, arena, arena_bytes);
  if (expected.must == 0 && needed > 0) {
    auto const more = look_at_workspace(seen, w.at, w.bytes, needed);
    expected.must |= more.must;
    expected.may |= more.may;
  }
  static char stream;  // only its address counts
  running = {&seen, w.at, needed, &stream, 0};
  auto const launched =
      ask(x.op->call, [&] { return x.op->launch(problem, w.at, w.bytes, &stream); });
  if (asked.status == TK_OK || !seen.sound()) expect(launched, expected);
  if (asked.status != TK_OK) require(launched.status != TK_OK, "a launch of what is not supported");
  if (asked.status != TK_OK && seen.sound())
    require(launched.status == asked.status && launched.sentence == asked.sentence,
            "tk_supports and the launch differ");
  bool const runs = launched.status == TK_OK && !seen.empty;
  require(running.launches == int(runs), "launches where none is due, or none");
  expect_memory(before, seen, w, needed, runs);
  return {x.op, launched.status, runs};
}

// An operation that need not be one, as C would pass it.
__attribute__((no_sanitize("enum"))) tk_status supports_nothing(int number) {
  tk_op op;
  put(op, number);
  return tk_supports(op, nullptr);
}

// Whatever number stands for the op, a NULL problem is refused: of an op that there is, as that.
void call_without_problem(int number) {
  auto const missing = ask("tk_supports", [&] { return supports_nothing(number); });
  bool const known = std::any_of(all_ops().begin(), all_ops().end(),
                                 [&](auto const* op) { return op->number == number; });
  require(missing.status == (known ? TK_NULL_POINTER : TK_BAD_VALUE), "a problem that is NULL");
}

}  // namespace

outcome try_call(std::uint8_t const* data, std::size_t size) {
  call_without_problem(size ? data[0] - 128 : 3);
  return run(generate(data, size));
}

std::string running_input;

void broken(char const* what) {
  std::fprintf(stderr, "%s%s\n  tk_last_error(): %s\n", running_input.c_str(), what,
               tk_last_error());
  __builtin_trap();
}

}  // namespace fuzz

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  fuzz::try_call(data, size);
  return 0;
}
