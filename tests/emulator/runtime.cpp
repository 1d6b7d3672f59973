// SPDX-License-Identifier: MIT
// The runtime of an emulated chip: memory that starts as NaN, a device of few multiprocessors,
// time, and settings from the environment.
#include "backends/runtime.hpp"

#include <cstdlib>
#include <thread>

#include "tests/emulator/report.hpp"

namespace rt = tk::be::rt;
using namespace tk::test;

TEST_CASE("device memory is aligned, starts as NaN, and is copied and filled") {
  unsigned char const data[5] = {1, 2, 3, 4, 5};
  unsigned char back[5] = {};
  auto* const p = static_cast<unsigned char*>(rt::allocate(1000));
  CHECK(reinterpret_cast<std::uintptr_t>(p) % 256 == 0);
  rt::copy_out(back, p, 5);
  CHECK(back[0] == 0xff);
  rt::copy_in(p, data, 5);
  rt::copy_out(back, p, 5);
  CHECK(std::equal(back, back + 5, data));
  rt::fill(p, 7, 1000);
  rt::fill_async(p, 9, 500, nullptr);
  CHECK(p[499] == 9);
  CHECK(p[500] == 7);
  rt::release(p);
  rt::release(rt::allocate(0));
}

TEST_CASE("the device says that it is emulated") {
  auto const device = rt::device();
  CHECK(contains(device.name, "emulated"));
  CHECK(device.multiprocessors == rt::multiprocessors());
  CHECK(rt::current_device() == 0);
  CHECK(rt::dl_device_type == 1);
  rt::require_chip();
  rt::synchronize();
}

TEST_CASE("events measure time") {
  rt::event from, to;
  from.record(nullptr);
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  to.record(nullptr);
  CHECK(milliseconds(from, to) >= 2);
}

TEST_CASE("settings come from the environment") {
  auto const with = [](char const* name, char const* value, auto read) {
    char const* const old = std::getenv(name);
    std::string const before = old ? old : "";
    setenv(name, value, 1);
    auto const x = read();
    if (old) setenv(name, before.c_str(), 1);
    else unsetenv(name);
    return x;
  };
  CHECK(with("TK_EMULATE_MULTIPROCESSORS", "7", [] { return rt::multiprocessors(); }) == 7);
  CHECK(with("TK_EMULATE_MULTIPROCESSORS", "", [] { return rt::multiprocessors(); }) == 4);
  CHECK(with("TK_EMULATE_SEED", "12", [] { return tk::emulator::settings{}.seed; }) == 12);
  CHECK(with("TK_EMULATE_SEED", "", [] { return tk::emulator::settings{}.seed; }) == 0);
  CHECK(with("TK_EMULATE_THREADS", "3", [] { return tk::emulator::settings{}.os_threads; }) == 3);
}

namespace {
struct arguments {
  int* out;
  int add;
};
void kernel(arguments const a) {
  a.out[tk::emulator::block_index() * 128 + tk::emulator::thread_index()] += a.add;
}
void broken(arguments const) {
  if (tk::emulator::thread_index() < 64) tk::emulator::named_sync(1, 256);
}
auto shape_of(auto shape, int blocks) {
  shape.blocks = blocks, shape.threads = 128;
  if constexpr (requires { shape.cluster; }) shape.cluster = 1;
  return shape;
}
}  // namespace

TEST_CASE("a launch runs at once and throws what goes wrong") {
  int out[384] = {};
  rt::launch(kernel, shape_of(rt::launch_shape{}, 3), arguments{out, 5});
  for (int const x : out) CHECK(x == 5);
  rt::launch(kernel, shape_of(rt::launch_shape{}, 0), arguments{out, 5});
  CHECK(out[0] == 5);
  std::string report;
  try {
    rt::launch(broken, shape_of(rt::launch_shape{}, 1), arguments{});
  } catch (tk::error const& e) {
    CHECK(e.code() == tk::status::runtime_error);
    report = e.what();
  }
  CHECK(contains(report, "deadlock"));
}
