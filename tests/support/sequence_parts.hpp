// SPDX-License-Identifier: MIT
// Some tokens and heads of one sequence as a problem of their own, and its results beside those of
// the whole; a sequence in several calls. An op says what its operands are:
//   inputs_of(few, all), own_inputs(few, all), results_of(few, all)   pairs of tensors of the two
//   heads_of_unit(case)         heads that can't be parted
//   set_heads(case, heads)      makes it a case of so many
//   spoil_sequence(x, s)        NaN and infinity in all that a sequence is given of tokens
#pragma once
#include <memory>

#include "tests/support/rows.hpp"
#include "tests/support/sequences.hpp"

namespace tk::test {

// Tokens [first, first + n) and heads [head, head + h) of sequence s.
struct scan_part {
  std::int64_t s, first, n, head, h;
};
template <case_of_sequences Case> scan_part whole_sequence(Case const& x, std::int64_t s) {
  return {s, 0, span_of(x, s).n, 0, x.h};
}

// The part of an operand of tokens as [1, n, heads, columns], or as [1, n, heads]; heads share each
// of `sharing`.
template <case_of_sequences Case>
tensor tokens_of(tensor x, Case const& of, scan_part const& p, std::int64_t sharing = 1) {
  auto const at = span_of(of, p.s);
  std::int64_t const head = p.head / sharing, heads = p.h / sharing;
  std::size_t const n = packed(of) ? 0 : 1;
  bool const wide = x.shape.size() == n + 3;
  std::int64_t const n_stride = x.strides[n], h_stride = wide ? x.strides[n + 1] : 1;
  x.origin += (n ? at.batch * x.strides[0] : 0) + (at.first + p.first) * n_stride + head * h_stride;
  std::vector<std::int64_t> shape{1, p.n, heads}, strides{p.n * n_stride, n_stride, h_stride};
  if (wide) shape.push_back(x.shape.back()), strides.push_back(1);
  x.shape = shape, x.strides = strides;
  return x;
}
inline tensor states_of(tensor x, scan_part const& p) {
  x.origin += p.s * x.strides[0] + p.head * x.strides[1];
  x.shape[0] = 1, x.shape[1] = p.h;
  return x;
}

enum class kind { of_tokens, of_groups, of_states, of_heads };  // of_groups: tokens of groups
struct pair_of_operands {
  tensor *few, *all;
  kind is;
};
template <case_of_sequences Case>
tensor part_of(pair_of_operands const& x, Case const& of, scan_part const& p) {
  if (x.is == kind::of_tokens) return tokens_of(*x.all, of, p);
  if (x.is == kind::of_groups) return tokens_of(*x.all, of, p, heads_of_unit(of));
  if (x.is == kind::of_states) return states_of(*x.all, p);
  tensor y = *x.all;
  y.origin += p.head * y.strides[0];
  y.shape[0] = p.h;
  return y;
}

inline std::size_t bytes_of_row(tensor const& x) {
  return static_cast<std::size_t>(x.cols() * bytes_of(x.type));
}
inline void copy_inputs(tensor& to, tensor const& from) {
  for (std::int64_t r = 0; r < from.rows(); ++r)
    std::memcpy(to.image_row(r), from.image_row(r), bytes_of_row(from));
}
inline void copy_results(tensor const& to, tensor const& from) {
  for (std::int64_t r = 0; r < to.rows(); ++r)
    std::memcpy(to.result_row(r), from.result_row(r), bytes_of_row(to));
}
// What one call left is what another is given.
inline void hand_on(tensor& to, tensor const& from) {
  for (std::int64_t r = 0; r < to.rows(); ++r)
    std::memcpy(to.image_row(r), from.result_row(r), bytes_of_row(to));
}

template <class Operands> std::vector<pair_of_operands> all_inputs(Operands& few, Operands& all) {
  auto inputs = inputs_of(few, all);
  for (auto const& x : own_inputs(few, all)) inputs.push_back(x);
  return inputs;
}
// The part with inputs of its own, which are those of `all`.
template <class Operands>
std::unique_ptr<Operands> take(Operands& all, scan_part const& p, int misalignment = 0) {
  auto c = all.of;
  set_heads(c, p.h);
  c.b = 1, c.n = p.n, c.lengths = {}, c.padding = 0, c.misalignment = misalignment;
  auto few = std::make_unique<Operands>(c);
  if constexpr (requires { few->repeat; }) few->repeat = all.repeat;
  for (auto const& x : all_inputs(*few, all))
    if (x.all->in) copy_inputs(*x.few, part_of(x, all.of, p));
  return few;
}

// ---- alone
template <class Operands>
void compare_alone(Operands& all, scan_part const& p, int misalignment, row_comparison& bits) {
  auto const few = take(all, p, misalignment);
  auto const wrong = launch_twice(*few);
  REQUIRE_MESSAGE(wrong == "", wrong);
  for (auto const& x : results_of(*few, all)) {
    if (!x.all->in) continue;
    auto const same = part_of(x, all.of, p);
    for (std::int64_t r = 0; r < same.rows(); ++r) bits.add(*x.few, r, same, r);
  }
}

// Every sequence alone, and one unit of heads of each; `all` has been launched.
template <class Operands> void compare_sequences(Operands& all, std::int64_t but = -1) {
  row_comparison bits;
  std::int64_t const unit = heads_of_unit(all.of);
  for (std::int64_t s = 0; s < sequences(all.of); ++s) {
    if (s == but) continue;
    auto const p = whole_sequence(all.of, s);
    compare_alone(all, p, static_cast<int>(s % 3), bits);
    if (p.h > unit) compare_alone(all, {s, 0, p.n, s % (p.h / unit) * unit, unit}, 0, bits);
  }
  CHECK_MESSAGE(bits.wrong() == "", describe(all.of) << ": " << bits.wrong());
}
// With TK_REPEAT_RUN sequences of one token may have bits of their own.
template <class Operands>
void check_company(std::vector<case_of<Operands>> const& cases, tk_repeat repeat = TK_REPEAT_ROW) {
  for (auto const& c : cases) {
    Operands x(c);
    if constexpr (requires { x.repeat; }) x.repeat = repeat;
    REQUIRE(launch_twice(x) == "");
    compare_sequences(x);
    if (repeat == TK_REPEAT_ROW) with_other_multiprocessors([&] { compare_sequences(x); });
    Operands spoiled(c);
    if constexpr (requires { x.repeat; }) spoiled.repeat = repeat;
    spoil_sequence(spoiled, 1);
    REQUIRE(launch_twice(spoiled) == "");
    compare_sequences(spoiled, 1);
  }
}

template <class Operands> std::size_t workspace_of(Operands const& x) {
  std::size_t bytes = 0;
  with_problem(x, [&](auto op, auto const* problem) {
    CHECK(tk_workspace(op.number, problem, &bytes) == TK_OK);
    return std::string();
  });
  return bytes;
}
// As many heads as keep every multiprocessor busy are walked, one alone is cut into segments: the
// same bits.
template <class Operands> void check_cut(case_of<Operands> c, tk_repeat repeat = TK_REPEAT_RUN) {
  std::int64_t const units = be::rt::multiprocessors(), unit = heads_of_unit(c);
  c.n = cut_length();
  set_heads(c, units * unit);
  Operands all(c);
  if constexpr (requires { all.repeat; }) all.repeat = repeat;
  REQUIRE(launch_twice(all) == "");
  row_comparison bits;
  for (std::int64_t const i : {std::int64_t{0}, units - 1})
    compare_alone(all, {0, 0, c.n, i * unit, unit}, 0, bits);
  CHECK_MESSAGE(bits.wrong() == "", describe(all.of) << ": " << bits.wrong());
}

// ---- in several calls
template <case_of_sequences Case>
std::vector<scan_part> parts_of(Case const& c, std::int64_t s,
                                std::vector<std::int64_t> const& lengths) {
  std::vector<scan_part> all;
  std::int64_t first = 0;
  for (auto const n : lengths) all.push_back({s, first, n, 0, c.h}), first += n;
  REQUIRE(first == span_of(c, s).n);
  return all;
}
// The states of a forward that are handed from one call to the next: initial and final ones.
template <class Operands>
std::vector<std::pair<tensor Operands::*, tensor Operands::*>> handed_on_states() {
  if constexpr (requires(Operands const& x) { x.final_kv; }) {
    return {{&Operands::initial_kv, &Operands::final_kv},
            {&Operands::initial_k, &Operands::final_k}};
  } else {
    std::vector<std::pair<tensor Operands::*, tensor Operands::*>> all{
        {&Operands::initial, &Operands::final}};
    if constexpr (requires(Operands const& x) { x.final_sums; })
      all.push_back({&Operands::initial_sums, &Operands::final_sums});
    return all;
  }
}
// Without initial states all is as after zeros; o does not depend on whether there are final ones.
template <class Operands> void check_absent_states(case_of<Operands> c) {
  c.states = true;
  Operands zeros(c), first(c), alone(c);
  for (auto const& [initial, final] : handed_on_states<Operands>()) {
    auto& x = zeros.*initial;
    if (!x.in) continue;
    for (std::int64_t r = 0; r < x.rows(); ++r)
      for (std::int64_t col = 0; col < x.cols(); ++col) set(x, r, col, 0);
    first.*initial = alone.*initial = alone.*final = {};
  }
  for (auto* const x : {&zeros, &first, &alone}) REQUIRE(launch_twice(*x) == "");
  row_comparison bits;
  for (auto const& x : results_of(first, zeros))
    for (std::int64_t r = 0; x.all->in && r < x.all->rows(); ++r) bits.add(*x.few, r, *x.all, r);
  for (std::int64_t r = 0; r < zeros.o.rows(); ++r) bits.add(alone.o, r, zeros.o, r);
  CHECK_MESSAGE(bits.wrong() == "", describe(c) << ": " << bits.wrong());
}
// A forward whose state is handed from one call to the next. Each call's results become those of
// the whole, which has been launched. In place: the final state is the same memory as the initial
// one.
template <class Operands>
std::vector<std::unique_ptr<Operands>> run_parts(Operands& whole,
                                                 std::vector<scan_part> const& parts,
                                                 bool in_place) {
  std::vector<std::unique_ptr<Operands>> all;
  for (auto const& p : parts) {
    auto part = take(whole, p);
    for (auto const& [initial, final] : handed_on_states<Operands>()) {
      if (all.empty() || !((*part).*initial).in) continue;
      if (in_place) (*part).*initial = (*part).*final;
      hand_on((*part).*initial, (*all.back()).*final);
    }
    REQUIRE(launch_twice(*part) == "");
    for (auto const& x : results_of(*part, whole))
      if (x.all->in) copy_results(part_of(x, whole.of, p), *x.few);
    all.push_back(std::move(part));
  }
  return all;
}
template <class Operands>
void run_in_parts(Operands& whole, std::vector<std::int64_t> const& lengths,
                  bool in_place = false) {
  for (std::int64_t s = 0; s < sequences(whole.of); ++s)
    run_parts(whole, parts_of(whole.of, s, lengths), in_place);
}
// The oracle of the unsplit sequence judges all of them.
template <class Operands>
void check_split(case_of<Operands> c, std::vector<std::int64_t> const& lengths, bool in_place) {
  c.states = true;
  c.n = 0;
  for (auto const n : lengths) c.n += n;
  Operands whole(c);
  REQUIRE(launch_twice(whole) == "");
  run_in_parts(whole, lengths, in_place);
  auto const v = compare(whole);
  CHECK_MESSAGE(v.ok(), describe(c) << "\n  " << v.wrong);
}

// ---- offsets
// Sequences below 0, past the end, or that end before they begin: nothing outside is written.
template <class Operands> void check_wrong_offsets(case_of<Operands> c) {
  c.lengths = {10, 9, 11};
  for (auto const& starts : {std::vector<int>{-7, 10, 10, 99},
                             {17, 3, 25, 2000000000},
                             {30, 30, 31, 32},
                             {-2000000000, -5, 0, 30},
                             {29, 12, 3, 0}}) {
    Operands x(c);
    for (std::size_t i = 0; i < starts.size(); ++i)
      set(x.starts, 0, static_cast<std::int64_t>(i), starts[i]);
    REQUIRE(launch_twice(x) == "");
    CHECK(check_untouched(x.memories, outputs_of(x)) == "");
  }
}

}  // namespace tk::test
