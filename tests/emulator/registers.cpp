// SPDX-License-Identifier: MIT
// setmaxnreg: legal counts, the block's budget, one count per warpgroup.
#include "backends/emulator/registers.hpp"

#include "tests/emulator/report.hpp"

using namespace tk::emulator;
using namespace tk::test;

TEST_CASE("a warpgroup's registers go to others") {
  CHECK(report_of(form_of(1, 384, 0), [] { set_registers(thread_index() < 128 ? 40 : 232); }) ==
        "");
  CHECK(contains(
      report_of(form_of(1, 384, 0), [] { set_registers(thread_index() < 128 ? 56 : 240); }),
      "would have 68608 registers of 65536"));
  for (int count : {16, 264, 36})
    CHECK(contains(report_of(form_of(1, 128, 0), [&] { set_registers(count); }),
                   "a multiple of 8 from 24 to 256"));
}

TEST_CASE("the warps of a warpgroup agree") {
  CHECK(contains(report_of(form_of(1, 128, 0), [] { set_registers(warp_index() == 2 ? 40 : 48); }),
                 "differs between the warps of warpgroup 0"));
  CHECK(contains(report_of(form_of(1, 128, 0),
                           [] {
                             if (warp_index() != 1) set_registers(48);
                           }),
                 "differs between the warps of warpgroup 0"));
  CHECK(contains(report_of(form_of(1, 32, 0),
                           [] {
                             if (lane_index() < 16) set_registers(48);
                             else sync_warp();
                           }),
                 "divergent warp"));
}
