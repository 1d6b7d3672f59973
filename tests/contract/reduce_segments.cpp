// SPDX-License-Identifier: MIT
// From the sums of segments to what walks begin with (ops/linear_attention/segment_states.hpp): of
// no segment, of fewer and more than are read together, of more than factors are found for at a
// time; in both directions. Where no walk begins a sum stays as it is. Sums are exact, or made of
// numbers of which some are lost in this order alone.
#include "ops/linear_attention/segment_states.hpp"
#include "tests/contract/support.hpp"

namespace tk::test {

// Tiles [first, first + last] are a worker's; the last of them, in its order, begins the sequence.
struct scanned_tiles {
  int first, last;
  bool reversed;
  TK_BOTH int place(int i) const { return first + (reversed ? last - i : i); }
};
TK_BOTH constexpr bool begins_in(int segment) { return segment % 3 != 1; }
inline constexpr int numbers = 97;  // of each segment, beside its tile

template <int R, int C, bool Decays> struct scanned : segment_workers<2> {
  struct scratch {
    float kept[segments_at_once];
  };
  struct args {
    int cases;
    scanned_tiles const* of;    // of each task and worker
    float const* kept;          // of each tile
    partial_tiles<R, C> tiles;  // these and the sums: before and after
    float* sums;                // [tiles, numbers]
    int* ran;
  };
  static TK_BOTH int tasks(args const& a) { return a.cases; }
  template <class Context> static TK_DEVICE void compute(Context& c, args const& a, task const& t) {
    auto const of = a.of[t.first + c.w.id()];
    auto const place = [&](int i) { return of.place(i); };
    if constexpr (Decays) {
      scan_segments(
          a.tiles, of.last, place, begins_in,
          [&](int i) {
            c.w.sync();  // all have read those before
            for (int k = c.w.lane(); k < segments_at_once; k += be::worker_lanes)
              c.scratch.kept[k] = i + k < of.last ? a.kept[of.place(i + k)] : -1e30f;
            c.w.sync();
          },
          [&](int i) { return c.scratch.kept[i % segments_at_once]; });
    } else {
      scan_segments(a.tiles, of.last, place, begins_in);
    }
    for (int n = c.w.lane(); n < numbers; n += be::worker_lanes)
      scan_segment_sums(of.last,
                        [&](int i) -> float& { return a.sums[of.place(i) * numbers + n]; });
    report(c, a, t.first / workers);
  }
};

template <bool Decays, class Begins>
void scan(std::vector<float>& x, int size, scanned_tiles const& of, std::vector<float> const& kept,
          Begins const& begins) {
  for (int e = 0; e < size; ++e) {
    auto const number = [&](int i) -> float& { return x[at(of.place(i) * size + e)]; };
    float start = number(of.last);
    for (int i = 0; i < of.last; ++i) {
      float const next = start * (Decays ? kept[at(of.place(i))] : 1) + number(i);
      if (begins(i)) number(i) = start;
      start = next;
    }
    number(of.last) = start;
  }
}
// Whole numbers; where nothing decays, a large one comes and goes again, with those before it.
template <bool Decays> std::vector<float> sums_of(int tiles, int size, std::uint64_t seed) {
  auto x = wholes(at(tiles * size), seed, 100);
  for (int tile = 0; tile < tiles && !Decays; ++tile)
    if (tile % 6 == 3)
      for (int e = 0; e < size; ++e) x[at(tile * size + e)] = tile % 12 == 3 ? 0x1p40f : -0x1p40f;
  return x;
}

template <int R, int C, bool Decays> void check_scan() {
  using op = scanned<R, C, Decays>;
  constexpr int each = segments_at_once,
                lasts[] = {0, 1, 7, 8, 9, each - 1, each, each + 1, 2 * each + 3};
  std::vector<scanned_tiles> all;
  int tiles = 0;
  for (int const last : lasts)
    for (bool const reversed : {false, true})
      all.push_back({tiles, last, reversed}), tiles += last + 1;
  std::vector<float> kept;  // what is halved is doubled next, and 0 keeps sums small
  for (int i = 0; i < tiles; ++i) kept.push_back(std::vector{1.f, 0.5f, 2.f, -1.f, 0.f}[at(i % 5)]);
  auto states = sums_of<Decays>(tiles, R * C, 3), sums = sums_of<false>(tiles, numbers, 4);
  device_array<scanned_tiles> const dall(all);
  device_array<float> const dkept(kept), dstates(states), dsums(sums);
  int const tasks = static_cast<int>(all.size()) / op::workers;
  run<op>({tasks, dall.data(), dkept.data(), {dstates.data()}, dsums.data(), nullptr});
  for (auto const& of : all) {
    scan<Decays>(states, R * C, of, kept, begins_in);
    scan<false>(sums, numbers, of, kept, [](int) { return true; });
  }
  check_same(dstates.read(), states);
  check_same(dsums.read(), sums);
}

TEST_CASE("sums of segments become what walks begin with") {
  expect_cases const counted(2 * 9);
  check_scan<64, 16, false>();
  check_scan<M, 48, false>();
}
TEST_CASE("and what is left of it at their ends") {
  expect_cases const counted(2 * 9);
  check_scan<64, 16, true>();
  check_scan<M, 48, true>();
}

}  // namespace tk::test
