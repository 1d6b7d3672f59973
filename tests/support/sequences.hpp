// SPDX-License-Identifier: MIT
// Cases of ops that go along sequences of tokens, in a batch or packed. A case has b, n, and the
// lengths of packed sequences, where there are any; its operands have `of`, the case.
#pragma once
#include <type_traits>
#include <utility>
#include <vector>

#include "tests/support/launch.hpp"
#include "tests/support/verdict.hpp"

namespace tk::test {

enum class order { bnhd, bhnd };

template <class Case>
concept case_of_sequences = requires(Case const& x) {
  x.b;
  x.n;
  x.lengths;
};

template <case_of_sequences Case> bool packed(Case const& x) { return !x.lengths.empty(); }
template <case_of_sequences Case> std::int64_t sequences(Case const& x) {
  return packed(x) ? static_cast<std::int64_t>(x.lengths.size()) : x.b;
}
template <case_of_sequences Case> std::int64_t tokens(Case const& x) {  // of each batch
  if (!packed(x)) return x.n;
  std::int64_t all = 0;
  for (auto const n : x.lengths) all += n;
  return all;
}
// Where sequence s lies: its batch, its first token, how many it has.
struct span {
  std::int64_t batch, first, n;
};
template <case_of_sequences Case> span span_of(Case const& x, std::int64_t s) {
  if (!packed(x)) return {s, 0, x.n};
  std::int64_t first = 0;
  for (std::int64_t i = 0; i < s; ++i) first += x.lengths[static_cast<std::size_t>(i)];
  return {0, first, x.lengths[static_cast<std::size_t>(s)]};
}
// The offsets of packed sequences: int32 [sequences + 1].
template <case_of_sequences Case> tensor make_starts(world& memories, Case const& x) {
  std::int64_t const count = sequences(x) + 1;
  auto starts = memories.make(dtype::int32, {count}, {1}, role::input);
  for (std::int64_t s = 0; s < count; ++s)
    set(starts, 0, s, static_cast<double>(s + 1 < count ? span_of(x, s).first : tokens(x)));
  return starts;
}

// So many tokens that one head alone is cut into segments of 1024, if there is anybody to share the
// work with.
inline std::int64_t cut_length() {
  return be::rt::multiprocessors() > 2 ? 2 * 1024 + 70 : 8 * 1024 - 58;
}

// A DLTensor of an operand, and none where there is no operand.
struct given_tensor {
  explicit given_tensor(tensor const& x) : there(x.in != nullptr) {
    if (there) dl = x.dl();
  }
  DLTensor const* get() const { return there ? &dl : nullptr; }
  DLTensor dl{};
  bool there;
};

template <class Operands>
using case_of = std::remove_cvref_t<decltype(std::declval<Operands const&>().of)>;

template <class Operands> verdict run_scan(case_of<Operands> const& x) {
  Operands operands(x);
  verdict v;
  v.wrong = launch_twice(operands);
  if (!v.ok()) return v;
  v = compare(operands);
  if (v.ok()) v.wrong = check_untouched(operands.memories, outputs_of(operands));
  return v;
}

// A case of one direction, for tables.
template <class Operands> struct directed : case_of<Operands> {
  directed(case_of<Operands> const& x) : case_of<Operands>(x) {}
};
template <class Operands> verdict run(directed<Operands> const& x) { return run_scan<Operands>(x); }
template <class Operands>
std::vector<directed<Operands>> in_direction(std::vector<case_of<Operands>> const& cases) {
  return {cases.begin(), cases.end()};
}

}  // namespace tk::test
