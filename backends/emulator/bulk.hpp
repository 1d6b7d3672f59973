// SPDX-License-Identifier: MIT
// Bulk asynchronous copies (PTX ISA 9.7.9.25) between global and shared memory, as boxes of 16-byte
// chunks that tma.hpp describes. Between issue and completion memory is nobody's: a load fills its
// destination with NaN when it is issued and with the data as late as it can; a store reads its
// source when it is issued and again as late as it can, and a difference is an error. Stores form
// groups of the lane that issued them, to wait for.
#pragma once
#include "backends/emulator/async_view.hpp"
#include "backends/emulator/mbarrier.hpp"

namespace tk::emulator {

// One row of a copy: `bytes` in shared memory, of which `inside` from `first` on are in the tensor.
struct copy_row {
  char* global = nullptr;  // of the first byte inside
  int first = 0, inside = 0, bytes = 0;
};
enum class copy_kind { plain, add_float, add_bf16, add_fp16 };
// Rows lie one after another in shared memory, but for the swizzle, which stays within 128 bytes.
struct copy_plan {
  std::vector<copy_row> rows;
  std::uint32_t shared = 0;
  std::size_t bytes = 0;
  int swizzle_bytes = 0;
  copy_kind kind = copy_kind::plain;
};

// The pattern of TMA and wgmma: address bits 7 and up are added (xor) to the chunk number.
inline std::uint32_t swizzled(std::uint32_t address, int swizzle_bytes) {
  std::uint32_t const mask = swizzle_bytes ? static_cast<std::uint32_t>(swizzle_bytes - 16) : 0;
  return address ^ ((address >> 3) & mask);
}

inline block& block_of(team& t, std::uint32_t address) { return *t.blocks[address >> rank_shift]; }

// ---- loads
class load_job : public job {
 public:
  // To every block of `ranks` (bit mask), at the same offsets.
  load_job(copy_plan plan, std::uint32_t bar, std::uint32_t ranks, lane& l, location const& here)
      : job(load, here, &l), plan_(std::move(plan)), bar_(bar), ranks_(ranks) {
    sanitizer::publish(&order_);
    for_each_rank([&](int rank) {
      mbarrier(l, to_rank(bar_, rank), where).known().visible_elsewhere();
      check_fenced(rank);
      std::memset(at(rank), 0xff, plan_.bytes);
      wrote(rank);
    });
  }
  bool uses(block const& b) const override { return ranks_ >> b.rank & 1; }
  void run() override {
    char outside[1024];
    for_each_rank([&](int rank) {
      mbarrier bar(*issuer, to_rank(bar_, rank), where);
      bar.known();
      if (bar.home().live == 0) bar.refuse("its block ended before a copy to it");
      std::uint32_t to = to_rank(plan_.shared, rank);
      for (auto const& r : plan_.rows) {
        char const* from = r.global;
        if (r.inside < r.bytes) {
          std::memset(outside, 0, static_cast<std::size_t>(r.bytes));
          if (r.inside)
            std::memcpy(outside + r.first, r.global, static_cast<std::size_t>(r.inside));
          from = outside;
        }
        put(to, from, r.bytes);
        to += static_cast<std::uint32_t>(r.bytes);
      }
      wrote(rank);
      announce(rank, &bar.edge_now().order);
      bar.expect(-static_cast<std::int64_t>(plan_.bytes));
    });
  }

 private:
  template <class F> void for_each_rank(F f) {
    for (int rank = 0; rank < 16; ++rank)
      if (ranks_ >> rank & 1) f(rank);
  }
  char* at(int rank) const {
    return own_team(*issuer).memory.window() + to_rank(plan_.shared, rank);
  }
  // What lanes have stored there must not come later than what the hardware writes.
  void check_fenced(int rank) const {
    std::uint32_t const to = to_rank(plan_.shared, rank);
    auto const& view = model_of<async_view>(block_of(own_team(*issuer), to));
    for (std::uint32_t c = 0; c < plan_.bytes; c += 16)
      if (auto const fault = view.fault(to + c, issuer->fences, "written"); !fault.empty())
        fail_for(*issuer, fault, where);
  }
  void wrote(int rank) const {
    std::uint32_t const to = to_rank(plan_.shared, rank);
    model_of<async_view>(block_of(own_team(*issuer), to)).wrote(to, plan_.bytes);
  }
  void put(std::uint32_t to, char const* from, int bytes) const {
    char* const window = own_team(*issuer).memory.window();
    for (int c = 0; c < bytes; c += 16, to += 16)
      std::memcpy(window + swizzled(to, plan_.swizzle_bytes), from + c, 16);
  }
  void announce(int rank, void* after) {
    if (!sanitizer::sees_races) return;
    std::vector<sanitizer::range> reads;
    for (auto const& r : plan_.rows)
      if (r.inside) reads.push_back({r.global, static_cast<std::size_t>(r.inside)});
    sanitizer::range const write{at(rank), plan_.bytes};
    sanitizer::access(own_team(*issuer).copy_engine(), &order_, reads.data(), reads.size(), &write,
                      1, after);
  }
  copy_plan plan_;
  std::uint32_t bar_, ranks_;
  char order_ = 0;
};

// ---- stores
struct store_group {
  int unread = 0, unwritten = 0;
  bool awaited_read = false, awaited_written = false;
  lane* parked = nullptr;
  char order = 0;
};
class store_groups : public model {
 public:
  static constexpr model_id id = bulk_id;
  struct of_lane {
    std::shared_ptr<store_group> open;
    std::vector<std::shared_ptr<store_group>> committed;
    location last;
  };
  void begin(block& b) override {
    lanes_.clear();
    lanes_.resize(static_cast<std::size_t>(b.threads));
  }
  void lane_ends(lane& l) override {
    auto const& mine = lanes_[static_cast<std::size_t>(l.thread)];
    if (!mine) return;
    bool lost = mine->open != nullptr;
    for (auto const& g : mine->committed) lost |= !g->awaited_read;
    if (lost) fail_for(l, "a lane ended before its bulk store had read shared memory", mine->last);
  }
  of_lane& of(lane const& l) {
    auto& mine = lanes_[static_cast<std::size_t>(l.thread)];
    if (!mine) mine = std::make_unique<of_lane>();
    return *mine;
  }

 private:
  std::vector<std::unique_ptr<of_lane>> lanes_;
};

class store_job : public job {
 public:
  store_job(copy_plan plan, std::shared_ptr<store_group> g, lane& l, location const& here)
      : job(store_read, here, &l), plan_(std::move(plan)), group_(std::move(g)) {
    sanitizer::publish(&order_);
    data_.resize(plan_.bytes);
    block& b = own_block(l);
    auto const& view = model_of<async_view>(b);
    for_each_chunk([&](std::uint32_t from, std::size_t at) {
      if (auto const fault = view.fault(from, l.fences); !fault.empty()) fail_for(l, fault, where);
      std::memcpy(&data_[at], own_team(l).memory.window() + from, 16);
    });
    ++group_->unread, ++group_->unwritten;
  }
  bool wanted() const override {
    return order == store_read ? group_->awaited_read : group_->awaited_written;
  }
  void run() override {
    auto const g = group_;
    if (order == store_read) read();
    else write();
    if (g->parked) wake(*g->parked);
  }

 private:
  template <class F> void for_each_chunk(F f) const {
    for (std::size_t at = 0; at < plan_.bytes; at += 16)
      f(swizzled(plan_.shared + static_cast<std::uint32_t>(at), plan_.swizzle_bytes), at);
  }
  void read() {
    char* const window = own_team(*issuer).memory.window();
    for_each_chunk([&](std::uint32_t from, std::size_t at) {
      if (std::memcmp(&data_[at], window + from, 16) != 0)
        fail_for(*issuer,
                 "shared memory at " + hex(from) + " changed while a bulk store was reading it",
                 where);
    });
    sanitizer::range const source{window + plan_.shared, plan_.bytes};
    engine_ = own_team(*issuer).copy_engine();
    sanitizer::access(engine_, &order_, &source, 1, nullptr, 0, &group_->order);
    --group_->unread;
    auto rest = std::make_unique<store_job>(std::move(*this));
    rest->order = store_write;
    add_job(own_team(*issuer), std::move(rest));
  }
  void write() {
    std::vector<sanitizer::range> writes;
    std::size_t at = 0;
    for (auto const& r : plan_.rows) {
      char const* const from = &data_[at] + r.first;
      if (plan_.kind == copy_kind::plain) {
        if (r.inside) std::memcpy(r.global, from, static_cast<std::size_t>(r.inside));
        if (r.inside && sanitizer::sees_races)
          writes.push_back({r.global, static_cast<std::size_t>(r.inside)});
      } else {
        add(r.global, from, r.inside);
      }
      at += static_cast<std::size_t>(r.bytes);
    }
    sanitizer::access(engine_, nullptr, nullptr, 0, writes.data(), writes.size(), &group_->order);
    --group_->unwritten;
  }
  void add(char* to, char const* from, int bytes) const {
    auto const each = [&]<class T>(T) {
      for (int i = 0; i < bytes; i += static_cast<int>(sizeof(T))) {
        T x;
        std::memcpy(&x, from + i, sizeof(T));
        atomic_add(reinterpret_cast<T*>(to + i), x);
      }
    };
    if (plan_.kind == copy_kind::add_float) each(float{});
    else if (plan_.kind == copy_kind::add_bf16) each(bf16{});
    else each(fp16{});
  }
  copy_plan plan_;
  std::shared_ptr<store_group> group_;
  std::vector<char> data_;
  void* engine_ = nullptr;
  char order_ = 0;
};

inline void store_commit() {
  sanitizer::quiet const q;
  lane& me = self();
  auto& mine = model_of<store_groups>(own_block(me)).of(me);
  if (!mine.open) mine.open = std::make_shared<store_group>();
  mine.committed.push_back(std::move(mine.open));
  mine.open = nullptr;
}

// Until all but the n youngest groups have read their source, or `written` their destination too.
inline void store_wait(int n, bool written, location where = location::current()) {
  sanitizer::quiet const q;
  lane& me = self();
  auto& groups = model_of<store_groups>(own_block(me)).of(me).committed;
  for (int i = 0; i < static_cast<int>(groups.size()) - n; ++i) {
    store_group& g = *groups[static_cast<std::size_t>(i)];
    g.awaited_read = true;
    g.awaited_written |= written;
    g.parked = &me;
    while (g.unread > 0 || (written && g.unwritten > 0))
      park(me, {"wait for bulk stores", where, nullptr, 0});
    g.parked = nullptr;
    sanitizer::observe(&g.order);
  }
  std::erase_if(groups, [](auto const& g) { return g->unwritten == 0 && g->awaited_read; });
}

// ---- contiguous bytes
inline void bulk_load(std::uint32_t to, void const* from, int bytes, std::uint32_t bar,
                      location where = location::current()) {
  look_at_mbarrier(bar);
  sanitizer::quiet const q;
  lane& me = self();
  if (to % 16 != 0 || reinterpret_cast<std::uintptr_t>(from) % 16 != 0 || bytes % 16 != 0 ||
      bytes <= 0)
    fail("bulk copy of " + std::to_string(bytes) + " bytes to " + hex(to) + " from " +
             hex(reinterpret_cast<std::uintptr_t>(from)) + ": not whole units of 16 bytes",
         where);
  if (!own_team(me).memory.holds(to, static_cast<std::size_t>(bytes)) || (to ^ bar) >> rank_shift)
    fail("bulk copy to " + hex(to) + ": not in the shared memory of its mbarrier's block", where);
  copy_plan plan;
  plan.shared = to, plan.bytes = static_cast<std::size_t>(bytes);
  for (int i = 0; i < bytes; i += 1024) {
    int const n = std::min(1024, bytes - i);
    plan.rows.push_back({const_cast<char*>(static_cast<char const*>(from)) + i, 0, n, n});
  }
  add_job(own_team(self()),
          std::make_unique<load_job>(std::move(plan), bar, 1u << (to >> rank_shift), me, where));
  yield(me);
}

// From shared to global memory, in the lane's open group of stores.
inline void bulk_store(void* to, std::uint32_t from, int bytes, copy_kind kind,
                       location where = location::current()) {
  sanitizer::quiet const q;
  lane& me = self();
  if (from % 16 != 0 || reinterpret_cast<std::uintptr_t>(to) % 16 != 0 || bytes % 16 != 0 ||
      bytes <= 0 || !own_team(me).memory.holds(from, static_cast<std::size_t>(bytes)))
    fail("bulk store of " + std::to_string(bytes) + " bytes from " + hex(from) + " to " +
             hex(reinterpret_cast<std::uintptr_t>(to)) + ": not whole units of 16 bytes",
         where);
  auto& mine = model_of<store_groups>(own_block(me)).of(me);
  if (!mine.open) mine.open = std::make_shared<store_group>();
  mine.last = where;
  copy_plan plan;
  plan.shared = from, plan.bytes = static_cast<std::size_t>(bytes), plan.kind = kind;
  for (int i = 0; i < bytes; i += 1024) {
    int const n = std::min(1024, bytes - i);
    plan.rows.push_back({static_cast<char*>(to) + i, 0, n, n});
  }
  add_job(own_team(me), std::make_unique<store_job>(std::move(plan), mine.open, me, where));
  yield(me);
}

}  // namespace tk::emulator
