// SPDX-License-Identifier: MIT
// Tensor copies (PTX ISA 9.7.9.27, CUDA driver API cuTensorMapEncodeTiled). A map describes a
// tensor of 1 to 5 dimensions and a box; a copy moves the box at some coordinates between the
// tensor and packed, swizzled rows of shared memory. What lies outside the tensor is read as zero
// and not written; all bytes of the box count for the mbarrier. A box whose rows are narrower than
// the swizzle's span is legal on hardware and not modelled.
#pragma once
#include "backends/emulator/bulk.hpp"

namespace tk::emulator {

enum class element_kind : std::uint8_t { fp32, bf16, fp16, byte };

struct alignas(64) tensor_map {
  std::uint32_t magic = 0;
  element_kind kind{};
  std::uint8_t rank = 0;
  std::uint8_t swizzle_bytes = 0;
  char* base = nullptr;
  std::uint64_t sizes[5] = {}, strides[4] = {};  // strides in bytes, of dimensions 1 and up
  std::uint16_t box[5] = {};
  static constexpr std::uint32_t is_map = 0x7a3e91c4;

  int element_bytes() const {
    return kind == element_kind::fp32 ? 4 : kind == element_kind::byte ? 1 : 2;
  }
  int row_bytes() const { return box[0] * element_bytes(); }
};
static_assert(sizeof(tensor_map) == 128);

// Whether the driver would take it.
inline bool is_legal(tensor_map const& m) {
  if (m.rank < 1 || m.rank > 5 || reinterpret_cast<std::uintptr_t>(m.base) % 16 != 0 || !m.base)
    return false;
  for (int i = 0; i < m.rank; ++i)
    if (m.sizes[i] == 0 || m.sizes[i] > std::uint64_t{1} << 32 || m.box[i] == 0 || m.box[i] > 256)
      return false;
  for (int i = 0; i + 1 < m.rank; ++i)
    if (m.strides[i] % 16 != 0 || m.strides[i] >> 40 != 0) return false;
  if (m.swizzle_bytes != 0 && m.row_bytes() > m.swizzle_bytes) return false;
  return m.row_bytes() % 16 == 0;
}

inline void check_tensor_copy(tensor_map const* map, int rank, std::uint32_t shared,
                              location const& where) {
  if (reinterpret_cast<std::uintptr_t>(map) % 64 != 0 || map->magic != tensor_map::is_map)
    fail("tensor copy: not a tensor map (64-byte aligned, encoded)", where);
  if (map->rank != rank)
    fail("tensor copy: " + std::to_string(rank) + " coordinates for a map of " +
             std::to_string(map->rank) + " dimensions",
         where);
  if (shared % 128 != 0)
    fail("tensor copy: shared address " + hex(shared) + " is not a multiple of 128", where);
  if (map->swizzle_bytes && map->row_bytes() != map->swizzle_bytes)
    fail("tensor copy: rows of " + std::to_string(map->row_bytes()) + " bytes under a swizzle of " +
             std::to_string(map->swizzle_bytes) + " are not modelled",
         where);
  std::size_t bytes = static_cast<std::size_t>(map->row_bytes());
  for (int i = 1; i < rank; ++i) bytes *= map->box[i];
  if (!own_team(self()).memory.holds(shared, bytes))
    fail("tensor copy: " + std::to_string(bytes) + " bytes at " + hex(shared) +
             " leave shared memory",
         where);
}

inline copy_plan plan_tensor_copy(tensor_map const& m, int const* coordinates,
                                  std::uint32_t shared) {
  copy_plan plan;
  plan.swizzle_bytes = m.swizzle_bytes;
  std::int64_t const from = std::max<std::int64_t>(coordinates[0], 0);
  std::int64_t const to = std::min<std::int64_t>(std::int64_t{coordinates[0]} + m.box[0],
                                                 static_cast<std::int64_t>(m.sizes[0]));
  int const size = m.element_bytes();
  int rows = 1;
  for (int i = 1; i < m.rank; ++i) rows *= m.box[i];
  plan.shared = shared;
  plan.bytes = static_cast<std::size_t>(rows) * static_cast<std::size_t>(m.row_bytes());
  plan.rows.reserve(static_cast<std::size_t>(rows));
  for (int n = 0; n < rows; ++n) {
    copy_row r;
    r.bytes = m.row_bytes();
    bool inside = from < to;
    std::int64_t offset = from * size;
    for (int i = 1, rest = n; i < m.rank; rest /= m.box[i], ++i) {
      std::int64_t const c = std::int64_t{coordinates[i]} + rest % m.box[i];
      inside &= c >= 0 && c < static_cast<std::int64_t>(m.sizes[i]);
      offset += c * static_cast<std::int64_t>(m.strides[i - 1]);
    }
    if (inside) {
      r.global = m.base + offset;
      r.first = static_cast<int>(from - coordinates[0]) * size;
      r.inside = static_cast<int>(to - from) * size;
    }
    plan.rows.push_back(r);
  }
  return plan;
}

// ---- as the instructions have it
inline void tensor_load_to(std::uint32_t shared, tensor_map const* map, int const* coordinates,
                           int rank, std::uint32_t bar, std::uint32_t ranks,
                           location const& where) {
  look_at_mbarrier(bar);
  sanitizer::quiet const q;
  lane& me = self();
  check_tensor_copy(map, rank, shared, where);
  if (ranks == 0 || ranks >> own_team(me).doing.form.cluster != 0)
    fail("tensor copy: to the blocks " + hex(ranks) + " of a cluster of " +
             std::to_string(own_team(me).doing.form.cluster),
         where);
  add_job(own_team(self()), std::make_unique<load_job>(plan_tensor_copy(*map, coordinates, shared),
                                                       bar, ranks, me, where));
  yield(me);
}
template <int Rank>
void tensor_load(std::uint32_t shared, tensor_map const* map, int const (&coordinates)[Rank],
                 std::uint32_t bar, location where = location::current()) {
  if ((shared ^ bar) >> rank_shift)
    fail("tensor copy: bytes and mbarrier in different blocks", where);
  tensor_load_to(shared, map, coordinates, Rank, bar, 1u << (shared >> rank_shift), where);
}
// Bit r of `ranks`: to the block of rank r, at the same offsets in its memory.
template <int Rank>
void tensor_load_to_all(std::uint32_t shared, tensor_map const* map, int const (&coordinates)[Rank],
                        std::uint32_t bar, std::uint32_t ranks,
                        location where = location::current()) {
  tensor_load_to(shared, map, coordinates, Rank, bar, ranks, where);
}

inline void tensor_store_kind(tensor_map const* map, int const* coordinates, int rank,
                              std::uint32_t shared, bool add, location const& where) {
  sanitizer::quiet const q;
  lane& me = self();
  check_tensor_copy(map, rank, shared, where);
  if (static_cast<int>(shared >> rank_shift) != cluster_rank())
    fail("tensor copy: from the shared memory of another block", where);
  auto& mine = model_of<store_groups>(own_block(me)).of(me);
  if (!mine.open) mine.open = std::make_shared<store_group>();
  mine.last = where;
  copy_plan plan = plan_tensor_copy(*map, coordinates, shared);
  if (add && map->kind == element_kind::byte)
    fail("tensor copy: addition of bytes is not modelled", where);
  if (add)
    plan.kind = map->kind == element_kind::fp32   ? copy_kind::add_float
                : map->kind == element_kind::bf16 ? copy_kind::add_bf16
                                                  : copy_kind::add_fp16;
  else  // a row's end is clipped to whole 16 bytes, not to elements (seen on an H200)
    for (copy_row& r : plan.rows) r.inside = std::min(r.bytes - r.first, (r.inside + 15) / 16 * 16);
  add_job(own_team(self()), std::make_unique<store_job>(std::move(plan), mine.open, me, where));
  yield(me);
}
template <int Rank>
void tensor_store(tensor_map const* map, int const (&coordinates)[Rank], std::uint32_t shared,
                  location where = location::current()) {
  tensor_store_kind(map, coordinates, Rank, shared, false, where);
}
template <int Rank>
void tensor_store_add(tensor_map const* map, int const (&coordinates)[Rank], std::uint32_t shared,
                      location where = location::current()) {
  tensor_store_kind(map, coordinates, Rank, shared, true, where);
}

}  // namespace tk::emulator
