// SPDX-License-Identifier: MIT
// The steps of a product: issue by every lane, multiplication, completion of its group, and each
// lane's wait. See wgmma.hpp.
#pragma once
#include "backends/emulator/wgmma.hpp"

namespace tk::emulator {

inline void warpgroup::begin(block& b, int first_thread) {
  block_ = &b, first_thread_ = first_thread;
  lanes_.fill({});
  for (auto& p : products_) spare_.push_back(std::move(p));
  for (auto& t : tiles_) spare_tiles_.push_back(std::move(t));
  products_.clear(), tiles_.clear(), groups_.clear(), parked_.clear();
  first_ = completed_ = wanted_ = 0;
}
inline bool warpgroup::is_done(lane const& l) const {
  for (auto const& t : tiles_)
    if (t->d[index(l)] && !t->taken[index(l)]) return false;
  return true;
}
inline std::string warpgroup::state_of(lane const& l) const {
  std::string s = std::to_string(completed_) + " of " + std::to_string(lanes_[index(l)].committed) +
                  " groups completed";
  for (auto const& p : products_)
    if (p->issued < group_lanes)
      return s + "; the product at " + text(p->where) + " was issued by " +
             std::to_string(p->issued) + " of 128 lanes";
  for (auto const& g : groups_)
    if (g.commits < group_lanes)
      return s + "; the group at " + text(g.where) + " was committed by " +
             std::to_string(g.commits) + " of 128 lanes";
  return s;
}

// ---- issue
inline warpgroup::tile* warpgroup::tile_of(lane const& l, char const* d) const {
  for (auto const& t : tiles_)
    if (t->d[index(l)] == d && !t->taken[index(l)]) return t.get();
  return nullptr;
}
inline warpgroup::product& warpgroup::join(lane& l, product_form const& form, char* d,
                                           location const& where) {
  int const number = state(l).issued++;
  if (number < next()) {
    product& p = at(number);
    if (!(p.form == form))
      fail("wgmma: lanes of a warpgroup issue different products, the other at " + text(p.where),
           where);
    return p;
  }
  if (spare_.empty()) spare_.push_back(std::make_unique<product>());
  products_.push_back(std::move(spare_.back()));
  spare_.pop_back();
  product& p = *products_.back();
  p.form = form, p.where = where, p.issued = 0;
  p.to = tile_of(l, d);
  p.opens = p.to == nullptr;
  if (p.opens) {
    if (spare_tiles_.empty()) spare_tiles_.push_back(std::make_unique<tile>());
    tiles_.push_back(std::move(spare_tiles_.back()));
    spare_tiles_.pop_back();
    p.to = tiles_.back().get();
    p.to->n = form.n, p.to->fp16_sums = form.fp16_sums, p.to->taken_by = 0;
    p.to->d.fill(nullptr), p.to->taken.fill(false);
    p.to->c.resize(static_cast<std::size_t>(64 * form.n));
  }
  return p;
}
inline void warpgroup::open_tile(lane& l, product& p, char* d, location const& where) {
  tile& t = *p.to;
  std::size_t const i = index(l);
  for (auto const& other : tiles_)
    if (other.get() != &t && other->d[i] && !other->taken[i] &&
        d < other->d[i] + 4 * other->words() && other->d[i] < d + 4 * t.words())
      fail("wgmma: the accumulator overlaps that of another running product", where);
  t.d[i] = d;
  if (p.form.keep) t.read(i);
  for (int r = 0; r < t.words(); ++r) t.set_word(i, r, in_flight);
}
inline void warpgroup::issue(lane& l, product_form const& form, void* registers,
                             std::uint32_t const* a, location const& where) {
  char* const d = static_cast<char*>(registers);
  std::size_t const i = index(l);
  if (!state(l).fenced) fail("wgmma: no fence since the last commit or wait", where);
  if (form.is_fp8() && (form.a_mn_contiguous || form.b_mn_contiguous))
    fail("wgmma: k is not contiguous in an operand of fp8", where);
  state(l).last = where;
  product& p = join(l, form, d, where);
  tile& t = *p.to;
  if (p.opens) open_tile(l, p, d, where);
  else if (t.d[i] != d || t.n != form.n || t.fp16_sums != form.fp16_sums)
    fail("wgmma: the accumulator is not the one that other lanes or earlier products use", where);
  t.last[i] = state(l).issued - 1;
  p.registers[i] = a;
  if (a) std::memcpy(p.values[i].data(), a, 16);
  sanitizer::publish(&p.order[i / 32]);
  if (p.issued == 0) p.fences = l.fences;
  else p.fences.meet(l.fences);
  if (++p.issued == group_lanes) multiply(l, p);
}

// ---- the product itself
inline void warpgroup::multiply(lane& l, product& p) {
  int const n = p.form.n, depth = p.form.is_fp8() ? 32 : 16;
  auto const check = [&](char const* which, std::uint64_t descriptor, shared_operand& x, bool mn,
                         int size) {
    if (descriptor >> 49 & 7) fail_for(l, "wgmma: descriptor with a base offset", p.where);
    if (!x.read(*block_, descriptor, mn, size))
      fail_for(l,
               std::string("wgmma: operand ") + which + " leaves shared memory, descriptor " +
                   hex(descriptor),
               p.where);
    auto const& view = model_of<async_view>(*block_);
    for (auto const& piece : x.pieces())
      if (auto const fault = view.fault(piece.address, p.fences); !fault.empty())
        fail_for(l, std::string("wgmma: operand ") + which + ": " + fault, p.where);
  };
  left_.resize(static_cast<std::size_t>(64 * depth));
  right_.resize(static_cast<std::size_t>(depth * n));
  with_kind(p.form.a_kind, [&]<class T>(T type) {
    if (p.form.a_in_registers) {
      for (int i = 0; i < group_lanes; ++i)
        for (int r = 0; r < 4; ++r) {
          std::uint32_t const word =
              p.values[static_cast<std::size_t>(i)][static_cast<std::size_t>(r)];
          constexpr int each = 4 / sizeof(T);  // elements of a register
          int const at =
              (i / 32 * 16 + i % 32 / 4 + (r & 1) * 8) * depth + (i % 4 + (r >> 1) * 4) * each;
          for (int e = 0; e < each; ++e)
            left_[static_cast<std::size_t>(at + e)] =
                p.form.minus ? -widen_element<T>(word, e) : widen_element<T>(word, e);
        }
    } else {
      check("a", p.form.a, p.a, p.form.a_mn_contiguous, 64);
      p.a.widen_to(type, left_.data(), depth, 1);
    }
  });
  check("b", p.form.b, p.b, p.form.b_mn_contiguous, n);
  with_kind(p.form.b_kind, [&](auto type) { p.b.widen_to(type, right_.data(), 1, n); });
  if (!p.form.keep) std::fill(p.to->c.begin(), p.to->c.end(), 0.f);
  multiply_add(p.to->c.data(), left_.data(), right_.data(), n, depth);
  if (p.form.fp16_sums)
    for (float& x : p.to->c) x = widen_fp16(round_to<fp16>(x).bits);
}

// ---- groups
inline void warpgroup::commit(lane& l, location const& where) {
  lane_state& mine = state(l);
  mine.fenced = false;
  std::size_t const number = static_cast<std::size_t>(mine.committed++);
  if (number == groups_.size()) groups_.push_back({mine.issued, 0, where});
  group& g = groups_[number];
  if (g.end != mine.issued)
    fail("wgmma: lanes of a warpgroup commit different groups, the other at " + text(g.where),
         where);
  if (++g.commits == group_lanes)
    add_job(own_team(self()), std::make_unique<product_job>(*this, l, where));
}
inline void warpgroup::check_operands(product& p) {
  char const* const window = block_->of->memory.window();
  lane& blamed = block_->at(first_thread_);
  std::vector<sanitizer::range> reads;
  auto const check = [&](char const* which, shared_operand const& x) {
    for (auto const& piece : x.pieces()) {
      if (std::memcmp(window + piece.address, piece.data, 16) != 0)
        fail_for(blamed,
                 std::string("wgmma: operand ") + which + ", shared memory at " +
                     hex(piece.address) + ", changed while the product ran",
                 p.where);
      if (sanitizer::sees_races) reads.push_back({block_->of->memory.window() + piece.address, 16});
    }
  };
  if (!p.form.a_in_registers) check("a", p.a);
  check("b", p.b);
  for (std::size_t warp = 0; warp < engines_.size(); ++warp) {
    if (!engines_[warp]) engines_[warp] = block_->of->new_engine();
    sanitizer::access(engines_[warp], &p.order[warp], reads.data(), reads.size(), nullptr, 0,
                      &order_);
  }
}
// No lane has passed its wait for this group yet, so none may have changed its registers.
inline void warpgroup::complete_group() {
  group const g = groups_[static_cast<std::size_t>(completed_)];
  while (first_ < g.end) {
    product& p = *products_.front();
    check_operands(p);
    for (int i = 0; p.form.a_in_registers && i < group_lanes; ++i)
      if (std::memcmp(p.registers[static_cast<std::size_t>(i)],
                      p.values[static_cast<std::size_t>(i)].data(), 16) != 0)
        fail_for(block_->at(first_thread_ + i),
                 "wgmma: the left operand in registers changed before the product's wait", p.where);
    spare_.push_back(std::move(products_.front()));
    products_.pop_front();
    ++first_;
  }
  ++completed_;
  for (lane* const l : parked_) wake(*l);
  parked_.clear();
}
inline void warpgroup::take(lane& l, int end, location const& where) {
  std::size_t const i = index(l);
  for (auto& t : tiles_) {
    if (!t->d[i] || t->taken[i] || t->last[i] >= end) continue;
    for (int r = 0; r < t->words(); ++r)
      if (t->word(i, r) != in_flight)
        fail("wgmma: an accumulator was written while its product ran", where);
    t->write(i);
    t->taken[i] = true;
    if (++t->taken_by == group_lanes) spare_tiles_.push_back(std::move(t));
  }
  std::erase(tiles_, nullptr);
}
inline void warpgroup::wait(lane& l, int running, location const& where) {
  lane_state& mine = state(l);
  mine.fenced = false;
  int const target = mine.committed - running;
  if (target <= 0) return;
  wanted_ = std::max(wanted_, target);
  while (completed_ < target) {
    parked_.push_back(&l);
    park(l, {"wait for products", where,
             [](lane const& x, std::uint64_t) {
               return model_of<warpgroups>(own_block(x)).of(x).state_of(x);
             },
             0});
  }
  sanitizer::observe(&order_);
  take(l, groups_[static_cast<std::size_t>(target) - 1].end, where);
}

}  // namespace tk::emulator
