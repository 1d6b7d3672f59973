// SPDX-License-Identifier: MIT
// A scene's problem with rows more than 2^31 elements apart, in a sparse mapping of which few pages
// are ever touched: the same bits as close together. Where memory is the CPU's; a card's far rows
// are those of its large sizes.
#pragma once
#include <sys/mman.h>

#include <memory>

#include "tests/support/scene.hpp"

namespace scene {

// Address space without memory behind it, until it is touched.
class sparse_memory {
 public:
  explicit sparse_memory(std::size_t bytes)
      : bytes_(bytes),
        data_(mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) {
    REQUIRE(data_ != MAP_FAILED);
  }
  ~sparse_memory() { munmap(data_, bytes_); }
  sparse_memory(sparse_memory const&) = delete;
  sparse_memory& operator=(sparse_memory const&) = delete;
  unsigned char* data() const { return static_cast<unsigned char*>(data_); }

 private:
  std::size_t bytes_;
  void* data_;
};

// body(a row of t, the same row at `far` with `strides`, the bytes of a row)
template <class Body>
void for_each_row(tensor const& t, unsigned char* far, std::array<std::int64_t, 8> const& strides,
                  std::size_t bytes_of_element, Body body) {
  int const last = t.last();
  std::int64_t rows = 1;
  for (int i = 0; i < last; ++i) rows *= t.shape[static_cast<std::size_t>(i)];
  for (std::int64_t r = 0; r < rows; ++r) {
    std::int64_t rest = r, near_at = 0, far_at = 0;
    for (int i = last - 1; i >= 0; --i) {
      auto const axis = static_cast<std::size_t>(i);
      std::int64_t const index = rest % t.shape[axis];
      rest /= t.shape[axis];
      near_at += index * t.strides[axis];
      far_at += index * strides[axis];
    }
    auto const size = static_cast<std::int64_t>(bytes_of_element);
    body(static_cast<unsigned char*>(t.dl.data) + near_at * size, far + far_at * size,
         static_cast<std::size_t>(t.shape[static_cast<std::size_t>(last)] * size));
  }
}

// Of tensors with at least two dimensions; the others stay where they are.
template <class Scene> void check_far_rows() {
  if (tk_device_type() != kDLCPU) return;
  Scene s;
  bytes host(arena_bytes);
  for (std::size_t i = 0; i < host.size(); i += 2) put_bf16(host, i, float(i / 2 % 7) - 3);
  s.arena.write(host);
  EXPECT_OK(call(s));
  auto const near = s.arena.content();

  Scene far;
  far.arena.write(host);
  struct moved {
    tensor* near;
    std::unique_ptr<sparse_memory> memory;
    std::array<std::int64_t, 8> strides;
    std::size_t element;
  };
  std::vector<moved> all;
  for (auto const& argument : far.arguments()) {
    auto& t = *argument.of;
    if (t.dl.ndim < 2) continue;
    moved m{&t, nullptr, t.strides, t.dl.dtype.bits / 8u};
    std::int64_t reach = (std::int64_t{1} << 31) + 24;
    for (int i = t.last() - 1; i >= 0; --i) {
      m.strides[static_cast<std::size_t>(i)] = reach;
      reach *= t.shape[static_cast<std::size_t>(i)];
    }
    m.memory = std::make_unique<sparse_memory>(static_cast<std::size_t>(reach) * m.element);
    for_each_row(t, m.memory->data(), m.strides, m.element,
                 [](unsigned char* from, unsigned char* to, std::size_t size) {
                   std::memcpy(to, from, size);
                 });
    all.push_back(std::move(m));
  }
  std::vector<void*> places;
  for (auto& m : all) {
    places.push_back(m.near->dl.data);
    m.near->dl.data = m.memory->data();
    std::swap(m.near->strides, m.strides);
  }
  EXPECT_OK(call(far));
  for (std::size_t i = 0; i < all.size(); ++i) {
    auto& m = all[i];
    std::swap(m.near->strides, m.strides);
    m.near->dl.data = places[i];
    for_each_row(*m.near, m.memory->data(), m.strides, m.element,
                 [](unsigned char* to, unsigned char* from, std::size_t size) {
                   std::memcpy(to, from, size);
                 });
  }
  CHECK(far.arena.content() == near);
}

}  // namespace scene
