// SPDX-License-Identifier: MIT
// A sequence in several calls, the state handed from one to the next, or its gradient from the last
// back to the first. Each call's results become those of the whole, which has been launched.
#pragma once
#include "tests/ops/linear_attention/part.hpp"

namespace tk::test {

inline std::size_t bytes_of_row(tensor const& x) {
  return static_cast<std::size_t>(x.cols() * bytes_of(x.type));
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

inline std::vector<scan_part> parts_of(scan_case const& c, std::int64_t s,
                                       std::vector<std::int64_t> const& lengths) {
  std::vector<scan_part> all;
  std::int64_t first = 0;
  for (auto const n : lengths) all.push_back({s, first, n, 0, c.h}), first += n;
  REQUIRE(first == span_of(c, s).n);
  return all;
}

// In place: the final state is the same memory as the initial one.
inline std::vector<std::unique_ptr<forward_operands>> run_forward_parts(
    forward_operands& whole, std::vector<scan_part> const& parts, bool in_place) {
  std::vector<std::unique_ptr<forward_operands>> all;
  for (auto const& p : parts) {
    auto part = take(whole, p);
    if (in_place && !all.empty()) part->initial = part->final;
    if (!all.empty()) hand_on(part->initial, all.back()->final);
    REQUIRE(launch_twice(*part) == "");
    copy_results(tokens_of(whole.o, whole.of, p), part->o);
    copy_results(states_of(whole.final, p), part->final);
    all.push_back(std::move(part));
  }
  return all;
}
inline void run_in_parts(forward_operands& whole, std::vector<std::int64_t> const& lengths,
                         bool in_place = false) {
  for (std::int64_t s = 0; s < sequences(whole.of); ++s)
    run_forward_parts(whole, parts_of(whole.of, s, lengths), in_place);
}

// `forward` has the same inputs, and gives the states between the parts. What a head's one decay
// gets is the sum over all calls.
inline void run_in_parts(backward_operands& whole, forward_operands& forward,
                         std::vector<std::int64_t> const& lengths) {
  auto const& c = whole.of;
  std::vector<double> ddecay(static_cast<std::size_t>(c.h));
  for (std::int64_t s = 0; s < sequences(c); ++s) {
    auto const parts = parts_of(c, s, lengths);
    auto const states = run_forward_parts(forward, parts, false);
    std::unique_ptr<backward_operands> later;
    for (auto i = parts.size(); i-- > 0;) {
      auto part = take(whole, parts[i]);
      if (i > 0) hand_on(part->initial, states[i - 1]->final);
      if (later) hand_on(part->dfinal, later->dinitial);
      REQUIRE(launch_twice(*part) == "");
      for (auto const& x : results_of(*part, whole))
        if (x.all->in) copy_results(part_of(x, c, parts[i]), *x.few);
      for (std::int64_t head = 0; head < c.h && part->ddecay.in; ++head)
        ddecay[static_cast<std::size_t>(head)] +=
            decode(dtype::fp32, part->ddecay.result_row(0) + head * 4);
      later = std::move(part);
    }
  }
  for (std::int64_t head = 0; head < c.h && whole.ddecay.in; ++head)
    encode(dtype::fp32, rounded(dtype::fp32, ddecay[static_cast<std::size_t>(head)]),
           whole.ddecay.result_row(0) + head * 4);
}

}  // namespace tk::test
