// SPDX-License-Identifier: MIT
// What the tests of the emulator share: launches that are expected to fail, and seeds.
#pragma once
#include <doctest/doctest.h>

#include <string>

#include "backends/emulator/emulator.hpp"

namespace tk::test {

inline emulator::shape form_of(int blocks, int threads, std::size_t smem_bytes, int cluster = 1,
                               int warp_lanes = 32) {
  emulator::shape form;
  form.blocks = blocks, form.threads = threads, form.smem_bytes = smem_bytes;
  form.cluster = cluster, form.warp_lanes = warp_lanes;
  return form;
}

// What the launch reports; empty if it ends well.
template <class F>
std::string report_of(emulator::shape const& form, F const& body, std::uint64_t seed = 0) {
  emulator::settings how;
  how.seed = seed;
  try {
    emulator::launch(form, how, body);
  } catch (error const& e) {
    CHECK(e.code() == status::runtime_error);
    return e.what();
  }
  return "";
}
inline bool contains(std::string const& report, std::string const& part) {
  return report.find(part) != std::string::npos;
}

// The order in turn and some random ones.
inline constexpr int seeds = emulator::sanitizer::sees_races ? 6 : 25;

}  // namespace tk::test
