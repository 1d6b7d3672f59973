// SPDX-License-Identifier: MIT
// Places in shared memory that lanes of all workers reserve at once: each place is one lane's, and
// what is counted is what was asked for, in each of a few turns.
#include "core/rows.hpp"
#include "tests/contract/support.hpp"

namespace tk::test {

// In turn n lane i of a block wants (i + n) % 4 places, and writes its number there.
template <int Workers> struct reserved_places : simple_op {
  static constexpr int workers = Workers, turns = 3, lanes = Workers * be::worker_lanes;
  static constexpr int most = 4 * lanes;
  static TK_BOTH constexpr int wanted(int lane, int turn) { return (lane + turn) % 4; }
  struct scratch {
    int places[most];
    unsigned taken[turns];
  };
  struct args {
    int cases;
    int* places;  // [cases, turns, most]
    int* taken;   // [cases, turns]
    int* ran;
  };
  template <class Context> static TK_DEVICE void compute(Context& c, args const& a, task const& t) {
    int const lane = c.w.id() * be::worker_lanes + c.w.lane();
    auto& shared = c.scratches[0];
    for (int turn = 0; turn < turns; ++turn)
      if (lane == 0) shared.taken[turn] = 0;
    for (int turn = 0; turn < turns; ++turn) {
      for (int i = lane; i < most; i += lanes) shared.places[i] = -1;
      meet<true>(c);
      int const n = wanted(lane, turn);
      int const first = static_cast<int>(reserve(&shared.taken[turn], static_cast<unsigned>(n)));
      for (int i = 0; i < n; ++i) shared.places[first + i] = lane;
      meet<true>(c);
      int const at = t.index * turns + turn;
      for (int i = lane; i < most; i += lanes) a.places[at * most + i] = shared.places[i];
      if (lane == 0) a.taken[at] = static_cast<int>(shared.taken[turn]);
      meet<true>(c);
    }
    report(c, a, t.index);
  }
};

template <int Workers> void check_places(int tasks) {
  using op = reserved_places<Workers>;
  device_array<int> const places(untouched<int>(at(tasks * op::turns * op::most))),
      taken(untouched<int>(at(tasks * op::turns)));
  run<op>({tasks, places.data(), taken.data(), nullptr});
  auto const got = places.read(), counts = taken.read();
  int wrong = 0;
  for (int i = 0; i < tasks * op::turns; ++i) {
    std::vector<int> of_lane(at(op::lanes));
    int asked = 0, beyond = 0;
    for (int lane = 0; lane < op::lanes; ++lane) asked += op::wanted(lane, i % op::turns);
    for (int k = 0; k < op::most; ++k) {
      int const lane = got[at(i * op::most + k)];
      if (k < asked && lane >= 0 && lane < op::lanes) ++of_lane[at(lane)];
      else beyond += lane != -1;
    }
    for (int lane = 0; lane < op::lanes; ++lane)
      wrong += of_lane[at(lane)] != op::wanted(lane, i % op::turns);
    wrong += counts[at(i)] != asked || beyond != 0;
  }
  CHECK(wrong == 0);
}

TEST_CASE("places that lanes reserve at once are one lane's each") {
  int const tasks = tasks_at_least(20);
  expect_cases const counted(3 * tasks);
  check_places<1>(tasks);
  check_places<2>(tasks);
  check_places<4>(tasks);
}

}  // namespace tk::test
