// SPDX-License-Identifier: MIT
// From a problem of quantise to launches over rows. Blocks of other shapes are rows of x seen with
// more dimensions: 1 x 128 as [..., n / 128, 128], and the columns that are left. A scale of all is
// the largest of those of parts (rounding is monotonous), which are left in the workspace; a last
// launch then quantises by it.
#pragma once
#include <functional>
#include <limits>
#include <vector>

#include "ops/quantise/problem.hpp"
#include "ops/row_sizes.hpp"

namespace tk {

inline constexpr std::int64_t scale_block = 128;
// Rows that need not stay whole are cut into such parts; so many numbers are one row at most.
inline constexpr std::int64_t scale_part = 8192, scales_at_once = 65536;

inline std::int64_t parts_of(std::int64_t n, std::int64_t each) { return (n + each - 1) / each; }

// A dimension of rows, and what is between its elements in each operand.
struct scaled_dimension {
  std::int64_t size, x, y, scale;
};
using scaled_dimensions = std::vector<scaled_dimension>;

// Adds a dimension behind those that are there; it is one with the last of them where it can be.
inline void add_joined(scaled_dimensions& to, scaled_dimension const& d) {
  constexpr std::int64_t most = std::numeric_limits<int>::max() - (1 << 16);
  if (d.size == 1) return;
  if (!to.empty()) {
    auto& o = to.back();
    if (o.size * d.size <= most && o.x == d.size * d.x && o.y == d.size * d.y &&
        o.scale == d.size * d.scale) {
      o = {o.size * d.size, d.x, d.y, d.scale};
      return;
    }
  }
  to.push_back(d);
}

// body(rows) for each launch of rows of some dimensions.
class row_splitter {
 public:
  using launch_of_rows = std::function<void(quantise_rows const&)>;
  row_splitter(quantise_rows const& rows, launch_of_rows launch)
      : rows_(rows), launch_(std::move(launch)) {}

  // Rows of `width` columns.
  void over(scaled_dimensions const& all, std::int64_t width) const { over(rows_, all, width); }
  // Rows of `width` columns in blocks of `columns`, whose scales are `stride` apart.
  void over_blocks(scaled_dimensions const& all, std::int64_t width, std::int64_t columns,
                   std::int64_t stride) const {
    scaled_dimension const blocks{width / columns, columns, columns, stride};
    if (blocks.size > 0) over(rows_, all, columns, blocks);
    if (width % columns != 0) over(moved(rows_, blocks, blocks.size), all, width % columns);
  }

 private:
  static quantise_rows moved(quantise_rows x, scaled_dimension const& d, std::int64_t by) {
    auto const move = [](void*& p, std::int64_t bytes) {
      if (p) p = static_cast<char*>(p) + bytes;
    };
    move(x.x.data, by * d.x * (x.x.type == element::fp32 ? 4 : 2));
    move(x.y.data, by * d.y);
    move(x.scale.data, by * d.scale * 4);
    return x;
  }
  void over(quantise_rows const& x, scaled_dimensions const& given, std::int64_t width,
            scaled_dimension const& last = {1, 0, 0, 0}) const {
    scaled_dimensions all;
    for (auto const& d : given) {
      if (d.size == 0) return;
      add_joined(all, d);
    }
    add_joined(all, last);
    split(x, all, width);
  }
  // A launch has rows of three dimensions, and less than 2^31 of them: where there are more, the
  // smallest is gone over here.
  void split(quantise_rows const& x, scaled_dimensions const& all, std::int64_t width) const {
    constexpr std::int64_t most = std::numeric_limits<int>::max() - (1 << 16);
    std::int64_t rows = 1;
    std::size_t least = 0;
    bool many = all.size() > 3;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (all[i].size < all[least].size) least = i;
      many = many || rows > most / all[i].size;
      if (!many) rows *= all[i].size;
    }
    if (!many) return launch_one(x, all, width);
    auto rest = all;
    rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(least));
    for (std::int64_t i = 0; i < all[least].size; ++i) split(moved(x, all[least], i), rest, width);
  }
  void launch_one(quantise_rows x, scaled_dimensions all, std::int64_t width) const {
    while (all.size() < 3) all.insert(all.begin(), {1, 0, 0, 0});
    auto const lay = [&](row_tensor_view& t, std::int64_t scaled_dimension::* stride) {
      t.outer = all[0].size, t.middle = all[1].size, t.rows = all[2].size, t.width = width;
      t.outer_stride = all[0].*stride, t.middle_stride = all[1].*stride;
      t.row_stride = all[2].*stride;
    };
    lay(x.x, &scaled_dimension::x);
    lay(x.y, &scaled_dimension::y);
    lay(x.scale, &scaled_dimension::scale);
    x.scale.width = 1;
    launch_(x);
  }

  quantise_rows rows_;
  launch_of_rows launch_;
};

// x's dimensions but the last.
inline scaled_dimensions rows_of(quantise_problem const& p) {
  auto const &x = p.x, &y = p.y;
  auto const& s = p.scale_stride;
  return {{x.outer, x.outer_stride, y.outer_stride, s[0]},
          {x.middle, x.middle_stride, y.middle_stride, s[1]},
          {x.rows, x.row_stride, y.row_stride, s[2]}};
}

// The elements of x, and of y, as the longest rows that they are; all of one scale.
struct longest_rows {
  scaled_dimensions all;
  std::int64_t width = 1, count = 1;

  longest_rows(quantise_problem const& p, bool with_y) {
    for (auto const& d : rows_of(p)) add_joined(all, {d.size, d.x, with_y ? d.y : d.x, 0});
    add_joined(all, {p.x.width, 1, 1, 0});
    if (!all.empty() && all.back().x == 1 && all.back().y == 1) {
      width = all.back().size;
      all.pop_back();
    }
    for (auto const& d : all) count *= d.size;
  }
};

// What scales of parts take of the workspace: of a tensor those of its parts, of parts of these,
// and so on.
struct part_scales {
  workspace_layout layout;
  std::vector<std::int64_t> counts;
  std::vector<std::size_t> at;

  explicit part_scales(quantise_problem const& p) {
    check_row_size(p.x);
    if (p.kind == scale_kind::by_128x128) return;
    if (row_workspace_bytes(p.x) > 0) layout.add_counters();
    if (p.kind == scale_kind::tensor && p.x.outer * p.x.middle * p.x.rows * p.x.width > 0) {
      longest_rows const rows(p, false);
      std::int64_t n = rows.count * parts_of(rows.width, scale_part);
      for (add(n); n > scales_at_once; add(n)) n = parts_of(n, scale_part);
    }
  }
  row_tensor_view memory(void* workspace, std::size_t i) const {
    return {{in_workspace<float>(workspace, at[i]), element::fp32}, 1, 1, 1, 1, 0, 0, 0};
  }

 private:
  void add(std::int64_t n) {
    counts.push_back(n);
    at.push_back(layout.add(static_cast<std::size_t>(n) * sizeof(float)));
  }
};

// The launches of a problem: over_x quantises rows, or finds scales alone where data of y is null;
// over_scales finds the largest of x, fp32, in each row.
class quantise_launches {
 public:
  using launch_of_rows = row_splitter::launch_of_rows;
  quantise_launches(quantise_problem const& p, void* workspace, launch_of_rows over_x,
                    launch_of_rows over_scales)
      : p_(p),
        workspace_(workspace),
        over_x_(std::move(over_x)),
        over_scales_(std::move(over_scales)) {}

  void make() const {
    auto const& s = p_.scale_stride;
    switch (p_.kind) {
      case scale_kind::row: return found().over(rows_of(p_), p_.x.width);
      case scale_kind::by_1x128:
        return found().over_blocks(rows_of(p_), p_.x.width, scale_block, s[3]);
      case scale_kind::by_128x128: return;  // not rows: ops/quantise/squares.hpp
      case scale_kind::tensor: return make_tensor();
      case scale_kind::given: return quantise_tensor();
    }
  }

 private:
  row_tensor_view scale() const { return {{p_.scale, element::fp32}, 1, 1, 1, 1, 0, 0, 0}; }
  row_splitter found() const { return {{p_.x, p_.y, scale(), false}, over_x_}; }
  row_splitter by_given() const { return {{p_.x, p_.y, scale(), true}, over_x_}; }
  row_splitter scales_in(row_tensor_view const& to) const {
    return {{p_.x, {}, to, false}, over_x_};
  }
  row_splitter largest_of(row_tensor_view const& from, row_tensor_view const& to) const {
    return {{from, {}, to, false}, over_scales_};
  }

  void quantise_tensor() const {
    longest_rows const rows(p_, true);
    by_given().over_blocks(rows.all, rows.width, scale_part, 0);
  }
  void make_tensor() const {
    if (p_.x.outer * p_.x.middle * p_.x.rows * p_.x.width == 0)
      return found().over({}, 0);  // nothing has a scale, too
    part_scales const parts(p_);
    longest_rows rows(p_, false);
    std::int64_t apart = parts_of(rows.width, scale_part);
    for (auto d = rows.all.rbegin(); d != rows.all.rend(); ++d) {
      d->scale = apart;
      apart *= d->size;
    }
    scales_in(parts.memory(workspace_, 0)).over_blocks(rows.all, rows.width, scale_part, 1);
    for (std::size_t i = 0; i < parts.counts.size(); ++i) {
      bool const last = i + 1 == parts.counts.size();
      auto const from = parts.memory(workspace_, i);
      if (last) largest_of(from, scale()).over({}, parts.counts[i]);
      else
        largest_of(from, parts.memory(workspace_, i + 1))
            .over_blocks({}, parts.counts[i], scale_part, 1);
    }
    quantise_tensor();
  }

  quantise_problem const& p_;
  void* workspace_;
  launch_of_rows over_x_, over_scales_;
};

}  // namespace tk
