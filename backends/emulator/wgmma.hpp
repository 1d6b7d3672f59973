// SPDX-License-Identifier: MIT
// wgmma.mma_async (PTX ISA 9.7.15): d[64, n] (+)= +-a[64, k] b[k, n] by a warpgroup, k = 16, or 32
// of fp8; d is fp32, or pairs of fp16, which each product rounds. Each lane only notes what it
// issues; the product is done when all 128 have. From issue to the wait that covers it its
// registers are nobody's: accumulators hold a NaN of their own, results reach a lane at its own
// wait, and an accumulator or a left operand that has changed by then is an error, as is an operand
// in shared memory that changed before its group completed, as late as it can. A group's first
// product needs a fence since the last commit or wait.
#pragma once
#include <deque>

#include "backends/emulator/wgmma_operand.hpp"

namespace tk::emulator {

inline constexpr int group_lanes = 128;
inline constexpr std::uint32_t in_flight = 0x7ff5a1d3;  // in accumulators of running products

// What all lanes of a warpgroup must agree on.
struct product_form {
  int n = 0;
  operand_kind a_kind = operand_kind::bf16, b_kind = operand_kind::bf16;
  bool keep = true, a_in_registers = false, a_mn_contiguous = false, b_mn_contiguous = false;
  std::uint64_t a = 0, b = 0;  // descriptors
  bool minus = false;          // d -= it
  bool fp16_sums = false;
  bool is_fp8() const { return a_kind >= operand_kind::e4m3; }
  bool operator==(product_form const&) const = default;
};

class warpgroup {
 public:
  // (lane, register) -> (row, column) of the accumulator.
  static constexpr int row(int l, int r) { return l / 32 * 16 + l % 32 / 4 + (r >> 1 & 1) * 8; }
  static constexpr int col(int l, int r) { return r / 4 * 8 + l % 4 * 2 + (r & 1); }

  struct tile {
    int n = 0, taken_by = 0;
    bool fp16_sums = false;
    std::array<char*, group_lanes> d{};  // where a lane's registers are
    int words() const { return fp16_sums ? n / 4 : n / 2; }
    std::array<int, group_lanes> last{};  // product that a lane issued on it last
    std::array<bool, group_lanes> taken{};
    std::vector<float> c;  // [64, n]
    float& at(std::size_t lane, int element) {
      int const l = static_cast<int>(lane);
      return c[static_cast<std::size_t>(row(l, element) * n + col(l, element))];
    }
    std::uint32_t word(std::size_t lane, int nth) const {
      std::uint32_t x;
      std::memcpy(&x, d[lane] + 4 * nth, 4);
      return x;
    }
    void set_word(std::size_t lane, int nth, std::uint32_t x) {
      std::memcpy(d[lane] + 4 * nth, &x, 4);
    }
    // A lane's registers to c, and back.
    void read(std::size_t lane) {
      for (int r = 0; r < words(); ++r) {
        std::uint32_t const x = word(lane, r);
        if (!fp16_sums) at(lane, r) = std::bit_cast<float>(x);
        else
          for (int e = 0; e < 2; ++e) at(lane, 2 * r + e) = widen_element<fp16>(x, e);
      }
    }
    void write(std::size_t lane) {
      for (int r = 0; r < words(); ++r) {
        auto const half = [&](int e) {
          return std::uint32_t{round_to<fp16>(at(lane, 2 * r + e)).bits} << 16 * e;
        };
        set_word(lane, r,
                 fp16_sums ? half(1) | half(0) : std::bit_cast<std::uint32_t>(at(lane, r)));
      }
    }
  };
  struct product {
    product_form form;
    location where;
    tile* to = nullptr;
    bool opens = false;  // the tile's first
    int issued = 0;
    std::array<std::uint32_t const*, group_lanes> registers{};
    std::array<std::array<std::uint32_t, 4>, group_lanes> values{};
    shared_operand a, b;
    known_fences fences;                         // which all lanes knew when they issued it
    std::array<char, group_lanes / 32> order{};  // what each warp did before
  };
  struct group {
    int end = 0, commits = 0;  // products before its end
    location where;
  };
  struct lane_state {
    int issued = 0, committed = 0;
    bool fenced = false;
    location last;
  };

  void issue(lane& l, product_form const& form, void* d, std::uint32_t const* a,
             location const& where);
  void commit(lane& l, location const& where);
  void wait(lane& l, int running, location const& where);
  void complete_group();
  bool wanted() const { return completed_ < wanted_; }
  void fence(lane& l) { state(l).fenced = true; }
  void begin(block& b, int first_thread);
  // Whether lane `l` may end.
  bool is_done(lane const& l) const;
  bool is_done() const { return products_.empty(); }
  location last_of(lane const& l) const { return lanes_[index(l)].last; }
  std::string state_of(lane const& l) const;

 private:
  static std::size_t index(lane const& l) {
    return static_cast<std::size_t>(l.thread) % group_lanes;
  }
  lane_state& state(lane const& l) { return lanes_[index(l)]; }
  product& at(int number) { return *products_[static_cast<std::size_t>(number - first_)]; }
  int next() const { return first_ + static_cast<int>(products_.size()); }
  product& join(lane& l, product_form const& form, char* d, location const& where);
  tile* tile_of(lane const& l, char const* d) const;
  void open_tile(lane& l, product& p, char* d, location const& where);
  void multiply(lane& l, product& p);
  void check_operands(product& p);
  void take(lane& l, int end, location const& where);

  block* block_ = nullptr;
  int first_thread_ = 0;
  std::array<lane_state, group_lanes> lanes_;
  std::deque<std::unique_ptr<product>> products_, spare_;
  std::vector<std::unique_ptr<tile>> tiles_, spare_tiles_;
  std::vector<group> groups_;
  int first_ = 0, completed_ = 0, wanted_ = 0;
  std::vector<lane*> parked_;
  std::vector<float> left_, right_;
  std::array<void*, group_lanes / 32> engines_{};
  char order_ = 0;
};

class warpgroups : public model {
 public:
  static constexpr model_id id = product_id;
  void begin(block& b) override {
    used_ = b.threads / group_lanes;
    while (static_cast<int>(groups_.size()) < used_)
      groups_.push_back(std::make_unique<warpgroup>());
    for (int i = 0; i < used_; ++i) groups_[static_cast<std::size_t>(i)]->begin(b, i * group_lanes);
  }
  void lane_ends(lane& l) override {
    if (l.thread / group_lanes < used_ && !of(l).is_done(l))
      fail_for(l, "a lane ended without waiting for its products", of(l).last_of(l));
  }
  warpgroup& of(lane const& l) {
    return *groups_[static_cast<std::size_t>(l.thread / group_lanes)];
  }
  static warpgroup& of(lane& l, location const& where) {
    auto& all = model_of<warpgroups>(own_block(l));
    if (l.of->size != 32 || l.thread / group_lanes >= all.used_)
      fail("wgmma: this lane is not in a whole warpgroup", where);
    return all.of(l);
  }

 private:
  std::vector<std::unique_ptr<warpgroup>> groups_;
  int used_ = 0;
};

class product_job : public job {
 public:
  product_job(warpgroup& g, lane& l, location const& w) : job(product, w, &l), group_(g) {}
  bool wanted() const override { return group_.wanted(); }
  void run() override { group_.complete_group(); }

 private:
  warpgroup& group_;
};

// ---- as the instructions have it
inline void wgmma_fence(location where = location::current()) {
  sanitizer::quiet const q;
  warpgroups::of(self(), where).fence(self());
}
inline void wgmma_issue(product_form const& form, void* d, std::uint32_t const* a, location where) {
  sanitizer::quiet const q;
  lane& me = self();
  warpgroups::of(me, where).issue(me, form, d, a, where);
  yield(me);
}
inline void wgmma_commit(location where = location::current()) {
  sanitizer::quiet const q;
  warpgroups::of(self(), where).commit(self(), where);
}
inline void wgmma_wait(int running, location where = location::current()) {
  sanitizer::quiet const q;
  warpgroups::of(self(), where).wait(self(), running, where);
}
// An accumulator is used: no product may still write it.
inline void check_settled(std::uint32_t x, location where = location::current()) {
  if (x == in_flight) fail("an accumulator is handed back while a product still writes it", where);
}
inline void check_settled(float x, location where = location::current()) {
  check_settled(std::bit_cast<std::uint32_t>(x), where);
}

}  // namespace tk::emulator

#include "backends/emulator/wgmma_steps.hpp"
