// SPDX-License-Identifier: MIT
// What the asynchronous proxy (bulk copies, wgmma) sees of a block's shared memory. Plain stores
// and stmatrix reach it only through a proxy fence of the lane that stored; reading bytes that
// differ is an error, and so is writing over them. stmatrix is followed lane by lane. Plain stores
// can't be followed: a fence makes visible what differs from the view by then, so a fence that is
// missing in some lanes of a warp, or made up for by another warp's later fence, goes unnoticed;
// one that comes too early does not. Lanes of a warp that fence wait for one another's stores, so
// that the comparison is made once.
// The fence must also happen before the hardware's access: barriers must lead from it to the lanes
// that issue the access (order.hpp). What a fence finds changed may have been stored by any warp
// that ran since the fence before it; knowing the fence of one of them is enough.
#pragma once
#include "backends/emulator/memory.hpp"

namespace tk::emulator {

class async_view : public model {
 public:
  static constexpr model_id id = proxy_id;
  static constexpr std::size_t chunk = 16;

  void begin(block& b) override {
    memory_ = b.of->memory.at(b.rank);
    first_ = (b.of->memory.offset() + chunk - 1) / chunk * chunk;
    bytes_ = (b.of->memory.offset() + b.of->memory.bytes()) / chunk * chunk;
    seen_.assign(bytes_, static_cast<char>(0xff));
    writer_.assign(bytes_ / chunk, 0);
    shown_.assign(bytes_ / chunk, {});
    team_ = b.of, block_ = &b;
    stored_.resize(static_cast<std::size_t>(b.threads));
    for (auto& s : stored_) s.clear();
    parked_.clear();
  }
  // Lane `l` has stored a chunk with stmatrix.
  void stored(lane const& l, std::uint32_t address) {
    std::size_t const c = (address & offset_mask) / chunk;
    writer_[c] = static_cast<std::uint16_t>(l.thread + 1);
    stored_[static_cast<std::size_t>(l.thread)].push_back(static_cast<std::uint32_t>(c));
  }
  void fence(lane& l, location const& where) {
    auto& mine = stored_[static_cast<std::size_t>(l.thread)];
    std::uint32_t const warp = std::uint32_t{1} << (l.of - block_->warps);
    for (std::uint32_t const c : mine)
      if (writer_[c] == l.thread + 1) show(c, warp);
    mine.clear();
    parked_.push_back(&l);
    own_team(l).watcher = this, own_team(l).watched = l.of;
    park(l, {"proxy fence", where, nullptr, 0});
  }
  void warp_rests() override {
    constexpr std::size_t step = 64 * chunk;
    for (std::size_t at = first_; at < bytes_; at += step) {
      std::size_t const n = std::min(step, bytes_ - at);
      if (std::memcmp(memory_ + at, seen_.data() + at, n) == 0) continue;
      for (std::size_t c = at / chunk; c < (at + n) / chunk; ++c)
        if (!writer_[c] && differs(c)) show(c, block_->ran);
    }
    ++team_->fences;
    for (lane* const l : parked_) {
      l->fences.set(l->of->index, team_->fences);
      wake(*l);
    }
    parked_.clear();
    block_->ran = 0;
  }
  // The hardware has written these bytes.
  void wrote(std::uint32_t address, std::size_t n) {
    std::size_t const at = address & offset_mask;
    std::memcpy(seen_.data() + at, memory_ + at, n);
    for (std::size_t c = at / chunk; c < (at + n + chunk - 1) / chunk; ++c)
      writer_[c] = 0, shown_[c] = {};
  }
  // Whether the hardware would read of this chunk what memory holds.
  bool sees(std::uint32_t address) const {
    std::size_t const c = (address & offset_mask) / chunk;
    return !differs(c) && !writer_[c];
  }
  // Whether the fence that made this chunk visible is among those that happened before.
  bool is_ordered(std::uint32_t address, known_fences const& before) const {
    visible const& x = shown_[(address & offset_mask) / chunk];
    if (x.fence == 0) return true;
    for (std::uint32_t rest = x.warps; rest; rest &= rest - 1)
      if (before.of(block_->warps[__builtin_ctz(rest)].index) >= x.fence) return true;
    return false;
  }
  // What is wrong where the hardware, for one that knows these fences, reads or writes this chunk;
  // empty if nothing is.
  std::string fault(std::uint32_t address, known_fences const& before,
                    char const* what = "read") const {
    if (sees(address) && is_ordered(address, before)) return {};
    int const who = writer_[(address & offset_mask) / chunk];
    return "shared memory at " + hex(address) + ", stored " +
           (who ? "with stmatrix by thread " + std::to_string(who - 1) : std::string("by a lane")) +
           ", is " + what + " by the hardware without a " +
           (sees(address) ? "barrier after the store and its proxy fence"
                          : "proxy fence after the store");
  }

 private:
  // The fence that made a chunk visible, and the warps that may have stored it, by bit.
  struct visible {
    std::uint32_t fence = 0, warps = 0;
  };
  bool differs(std::size_t c) const {
    std::uint64_t a[2], b[2];
    std::memcpy(a, seen_.data() + c * chunk, chunk), std::memcpy(b, memory_ + c * chunk, chunk);
    return a[0] != b[0] || a[1] != b[1];
  }
  // By the fence that is going on.
  void show(std::size_t c, std::uint32_t warps) {
    std::memcpy(seen_.data() + c * chunk, memory_ + c * chunk, chunk);
    writer_[c] = 0;
    shown_[c] = {team_->fences + 1, warps};
  }
  team* team_ = nullptr;
  block* block_ = nullptr;
  char* memory_ = nullptr;
  std::size_t first_ = 0, bytes_ = 0;
  std::vector<char> seen_;
  std::vector<visible> shown_;         // by chunk
  std::vector<std::uint16_t> writer_;  // by chunk: 1 + the thread whose stmatrix is not fenced
  std::vector<std::vector<std::uint32_t>> stored_;
  std::vector<lane*> parked_;
};

inline void proxy_fence(location where = location::current()) {
  sanitizer::quiet const q;
  lane& me = self();
  model_of<async_view>(own_block(me)).fence(me, where);
}

// ---- matrices of 8 x 8 16-bit elements between registers and shared memory (PTX ISA 9.7.14).
// Lane 8 m + i gives the address of row i of matrix m; lane L holds elements 2 (L % 4), + 1 of row
// L / 4 of matrix r in register r.
inline void check_row_address(std::uint32_t address, location const& where) {
  if (address % 16 != 0 || !own_team(self()).memory.holds(address, 16))
    fail("matrix row at " + hex(address) + ": not sixteen aligned bytes of shared memory", where);
}
struct matrix_rows {
  std::uint32_t registers[4];
  std::uint32_t row[4];
};
inline void exchange_rows(matrix_rows& x, bool store, char const* what, location const& where) {
  collective(
      x,
      [store](matrix_rows* const* lanes) {
        for (int m = 0; m < 4; ++m)
          for (int l = 0; l < 32; ++l) {
            std::uint32_t& in_row = lanes[8 * m + l / 4]->row[l % 4];
            if (store) in_row = lanes[l]->registers[m];
            else lanes[l]->registers[m] = in_row;
          }
      },
      what, where);
}
// Lane L has elements 2 (L % 4), + 1 of column L / 4.
inline void exchange_columns(matrix_rows& x, bool store, char const* what, location const& where) {
  collective(
      x,
      [store](matrix_rows* const* lanes) {
        for (int m = 0; m < 4; ++m)
          for (int l = 0; l < 32; ++l)
            for (int half = 0; half < 2; ++half) {
              std::uint32_t& pair = lanes[8 * m + l % 4 * 2 + half]->row[l / 8];
              std::uint32_t& own = lanes[l]->registers[m];
              auto const put = [](std::uint32_t& to, int at, std::uint32_t from, int from_at) {
                to = (to & ~(0xffffu << 16 * at)) | (from >> 16 * from_at & 0xffff) << 16 * at;
              };
              if (store) put(pair, l / 4 % 2, own, half);
              else put(own, half, pair, l / 4 % 2);
            }
      },
      what, where);
}
inline void store_matrices(matrix_rows const& x, std::uint32_t address) {
  std::memcpy(shared_pointer<char>(address), x.row, 16);
  sanitizer::quiet const q;
  model_of<async_view>(own_block(self())).stored(self(), address);
}
inline void stmatrix(std::uint32_t address, std::uint32_t a, std::uint32_t b, std::uint32_t c,
                     std::uint32_t d, location where = location::current()) {
  check_row_address(address, where);
  matrix_rows x{{a, b, c, d}, {}};
  exchange_rows(x, true, "stmatrix", where);
  store_matrices(x, address);
}
inline void stmatrix_transposed(std::uint32_t address, std::uint32_t a, std::uint32_t b,
                                std::uint32_t c, std::uint32_t d,
                                location where = location::current()) {
  check_row_address(address, where);
  matrix_rows x{{a, b, c, d}, {}};
  exchange_columns(x, true, "stmatrix.trans", where);
  store_matrices(x, address);
}
inline matrix_rows row_at(std::uint32_t address, location const& where) {
  check_row_address(address, where);
  matrix_rows x{};
  std::memcpy(x.row, shared_pointer<char const>(address), 16);
  return x;
}
inline void ldmatrix(std::uint32_t address, std::uint32_t& a, std::uint32_t& b, std::uint32_t& c,
                     std::uint32_t& d, location where = location::current()) {
  auto x = row_at(address, where);
  exchange_rows(x, false, "ldmatrix", where);
  a = x.registers[0], b = x.registers[1], c = x.registers[2], d = x.registers[3];
}
inline void ldmatrix_transposed(std::uint32_t address, std::uint32_t& a, std::uint32_t& b,
                                std::uint32_t& c, std::uint32_t& d,
                                location where = location::current()) {
  auto x = row_at(address, where);
  exchange_columns(x, false, "ldmatrix.trans", where);
  a = x.registers[0], b = x.registers[1], c = x.registers[2], d = x.registers[3];
}

}  // namespace tk::emulator
