// SPDX-License-Identifier: MIT
// From a problem of quantise to launches over rows. Blocks of other shapes are rows of x seen with
// more dimensions: 1 x 128 as [..., n / 128, 128], and the columns that are left. Scales of several
// rows are those of parts, the largest of which counts (rounding is monotonous), in the workspace;
// a last launch then quantises by them.
#include <limits>
#include <vector>

#include "core/element.hpp"
#include "ops/quantise/problem.hpp"
#include "ops/row_sizes.hpp"

namespace tk {

template <class T, class F> struct quantise_run {
  static void launch(quantise_rows const& x, void* workspace, void* stream);
};

namespace {

constexpr std::int64_t block = 128;
// Long rows that need not stay whole are cut into such parts; so many numbers are one row at most.
constexpr std::int64_t part = 8192, numbers_at_once = 65536;

// A dimension of rows, and what is between its elements in each operand.
struct dimension {
  std::int64_t size, x, y, scale;
};
using dimensions = std::vector<dimension>;

// Adds the last dimension to those before it, joined with the one before where that is one of more
// elements.
void add_joined(dimensions& to, dimension const& d) {
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

class launches {
 public:
  launches(element y_type, void* workspace, void* stream)
      : y_type_(y_type), workspace_(workspace), stream_(stream) {}

  // Rows of `width` columns.
  void over(quantise_rows x, dimensions const& given, std::int64_t width) const {
    dimensions all;
    for (auto const& d : given) {
      if (d.size == 0) return;
      add_joined(all, d);
    }
    split(x, all, width);
  }
  // Rows of `width` columns in blocks of `columns`, whose scales are `stride` apart.
  void over_blocks(quantise_rows x, dimensions all, std::int64_t width, std::int64_t columns,
                   std::int64_t stride) const {
    auto const whole = width / columns;
    all.push_back({whole, columns, columns, stride});
    over(x, all, columns);
    all.pop_back();
    if (width % columns == 0) return;
    move(x, {0, columns, columns, stride}, whole);
    over(x, all, width % columns);
  }

 private:
  static void move(quantise_rows& x, dimension const& d, std::int64_t by) {
    auto const moved = [](void* p, std::int64_t bytes) {
      return p ? static_cast<char*>(p) + bytes : nullptr;
    };
    x.x.data = moved(x.x.data, by * d.x * (x.x.type == element::fp32 ? 4 : 2));
    x.y.data = moved(x.y.data, by * d.y);
    x.scale.data = moved(x.scale.data, by * d.scale * 4);
  }
  // A launch has rows of three dimensions, and less than 2^31 of them: the smallest is cut where
  // there are more.
  void split(quantise_rows const& x, dimensions const& all, std::int64_t width) const {
    constexpr std::int64_t most = std::numeric_limits<int>::max() - (1 << 16);
    std::int64_t rows = 1;
    std::size_t least = 0;
    bool many = all.size() > 3;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (all[i].size < all[least].size) least = i;
      many = many || rows > most / all[i].size;
      rows *= many ? 1 : all[i].size;
    }
    if (!many) return launch_one(x, all, width);
    dimensions rest = all;
    rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(least));
    for (std::int64_t i = 0; i < all[least].size; ++i) {
      auto one = x;
      move(one, all[least], i);
      split(one, rest, width);
    }
  }
  void launch_one(quantise_rows x, dimensions all, std::int64_t width) const {
    while (all.size() < 3) all.insert(all.begin(), {1, 0, 0, 0});
    auto const lay = [&](row_tensor_view& t, std::int64_t dimension::* stride) {
      t.outer = all[0].size, t.middle = all[1].size, t.rows = all[2].size, t.width = width;
      t.outer_stride = all[0].*stride, t.middle_stride = all[1].*stride;
      t.row_stride = all[2].*stride;
    };
    lay(x.x, &dimension::x);
    lay(x.y, &dimension::y);
    lay(x.scale, &dimension::scale);
    x.scale.width = 1;
    if (x.x.type == element::bf16) choose<bf16>(x);
    else if (x.x.type == element::fp16) choose<fp16>(x);
    else choose<float>(x);
  }
  template <class T> void choose(quantise_rows const& x) const {
    if (x.y.data && y_type_ == element::fp8_e5m2)
      quantise_run<T, fp8_e5m2>::launch(x, workspace_, stream_);
    else quantise_run<T, fp8_e4m3>::launch(x, workspace_, stream_);
  }

  element y_type_;
  void *workspace_, *stream_;
};

// The rows of x, y and, of TK_SCALE_ROW and blocks in rows, scale.
dimensions rows_of(quantise_problem const& p) {
  auto const &x = p.x, &y = p.y;
  auto const& s = p.scale_stride;
  return {{x.outer, x.outer_stride, y.outer_stride, s[0]},
          {x.middle, x.middle_stride, y.middle_stride, s[1]},
          {x.rows, x.row_stride, y.row_stride, s[2]}};
}

// The same elements as the longest rows that they are, and those rows' width; of one scale.
struct longest_rows {
  dimensions all;
  std::int64_t width = 1;
};
longest_rows join_rows(quantise_problem const& p, bool with_y) {
  longest_rows r;
  for (auto d : rows_of(p)) add_joined(r.all, {d.size, d.x, with_y ? d.y : d.x, 0});
  add_joined(r.all, {p.x.width, 1, 1, 0});
  if (r.all.empty() || r.all.back().x != 1 || r.all.back().y != 1) return r;
  r.width = r.all.back().size;
  r.all.pop_back();
  return r;
}
std::int64_t product_of(dimensions const& all) {
  std::int64_t n = 1;
  for (auto const& d : all) n *= d.size;
  return n;
}

// What scales of parts take of the workspace: of a tensor those of its parts, of parts of these, and
// so on; of squares those of their rows, each column of blocks by itself.
struct part_scales {
  workspace_layout layout;
  std::vector<std::int64_t> counts;
  std::vector<std::size_t> at;
  std::int64_t blocks = 0, padded = 0;  // columns of blocks, and how many numbers each has

  explicit part_scales(quantise_problem const& p) {
    if (row_workspace_bytes(p.x) > 0) layout.add_counters();
    std::int64_t const matrices = p.x.outer * p.x.middle;
    if (p.kind == scale_kind::by_128x128) {
      blocks = (p.x.width + block - 1) / block;
      padded = (p.x.rows + block - 1) / block * block;
      add(matrices * blocks * padded);
    } else if (p.kind == scale_kind::tensor && matrices * p.x.rows * p.x.width > 0) {
      auto const rows = join_rows(p, false);
      std::int64_t n = product_of(rows.all) * ((rows.width + part - 1) / part);
      add(n);
      for (; n > numbers_at_once; add(n)) n = (n + part - 1) / part;
    }
  }
  void add(std::int64_t n) {
    counts.push_back(n);
    at.push_back(layout.add(static_cast<std::size_t>(n) * sizeof(float)));
  }
};

void launch_tensor(quantise_problem const& p, quantise_rows const& found, quantise_rows const& by,
                   quantise_rows largest_of, launches const& make, void* workspace) {
  if (p.x.outer * p.x.middle * p.x.rows * p.x.width == 0) {  // nothing has a scale, too
    make.over(found, {}, 0);
    return;
  }
  part_scales const parts(p);
  auto const memory = [&](std::size_t i) { return in_workspace<float>(workspace, parts.at[i]); };
  auto rows = join_rows(p, false);
  auto const each = (rows.width + part - 1) / part;
  auto step = found;
  step.y.data = nullptr;
  step.scale.data = memory(0);
  std::int64_t next = each;
  for (auto d = rows.all.rbegin(); d != rows.all.rend(); next *= d++->size) d->scale = next;
  make.over_blocks(step, rows.all, rows.width, part, 1);
  for (std::size_t i = 0; i < parts.counts.size(); ++i) {
    bool const last = i + 1 == parts.counts.size();
    largest_of.x.data = memory(i);
    largest_of.scale.data = last ? p.scale : memory(i + 1);
    make.over_blocks(largest_of, {}, parts.counts[i], last ? numbers_at_once : part, 1);
  }
  rows = join_rows(p, true);
  make.over_blocks(by, rows.all, rows.width, part, 0);
}

void launch_squares(quantise_problem const& p, quantise_rows const& found, quantise_rows const& by,
                    quantise_rows largest_of, launches const& make, void* workspace) {
  part_scales const parts(p);
  auto* const memory = in_workspace<float>(workspace, parts.at[0]);
  auto const matrix = parts.blocks * parts.padded;
  auto const& s = p.scale_stride;
  auto rows = rows_of(p);
  auto step = found;
  step.y.data = nullptr;
  step.scale.data = memory;
  rows[0].scale = p.x.middle * matrix, rows[1].scale = matrix, rows[2].scale = 1;
  make.over_blocks(step, rows, p.x.width, block, parts.padded);

  largest_of.x.data = memory;
  largest_of.scale.data = p.scale;
  make.over_blocks(largest_of,
                   {{p.x.outer, p.x.middle * matrix, 0, s[0]},
                    {p.x.middle, matrix, 0, s[1]},
                    {parts.blocks, parts.padded, 0, s[3]}},
                   p.x.rows, block, s[2]);

  rows = rows_of(p);
  auto const whole = p.x.rows / block;
  auto const last = rows[2];
  rows[2] = {whole, block * last.x, block * last.y, s[2]};
  rows.push_back({block, last.x, last.y, 0});
  make.over_blocks(by, rows, p.x.width, block, s[3]);
  rows.pop_back();
  rows[2] = {p.x.rows % block, last.x, last.y, 0};
  auto rest = by;
  rest.x.data = static_cast<char*>(by.x.data) +
                whole * block * last.x * (by.x.type == element::fp32 ? 4 : 2);
  rest.y.data = static_cast<char*>(by.y.data) + whole * block * last.y;
  rest.scale.data = p.scale + whole * s[2];
  make.over_blocks(rest, rows, p.x.width, block, s[3]);
}

}  // namespace

std::size_t workspace_bytes(quantise_problem const& p) { return part_scales(p).layout.bytes(); }

void launch(quantise_problem const& p, void* workspace, void* stream) {
  check_row_size(p.x);
  launches const make(p.y.type, workspace, stream);
  bool const e5m2 = p.y.type == element::fp8_e5m2;
  quantise_rows found{p.x, p.y, {}, e5m2 ? 57344.f : 448.f, 0x1p-80f, false, p.power_of_two};
  found.scale.data = p.scale;
  found.scale.type = element::fp32;
  auto by = found;  // the scales that are there
  by.given = true;
  quantise_rows largest_of = found;  // of scales, as they are
  largest_of.x.type = element::fp32;
  largest_of.y.data = nullptr;
  largest_of.largest = 1, largest_of.least = 0;
  largest_of.power_of_two = false;
  switch (p.kind) {
    case scale_kind::row: return make.over(found, rows_of(p), p.x.width);
    case scale_kind::by_1x128:
      return make.over_blocks(found, rows_of(p), p.x.width, block, p.scale_stride[3]);
    case scale_kind::by_128x128:
      return launch_squares(p, found, by, largest_of, make, workspace);
    case scale_kind::tensor: return launch_tensor(p, found, by, largest_of, make, workspace);
    case scale_kind::given: {
      auto const rows = join_rows(p, true);
      return make.over_blocks(by, rows.all, rows.width, part, 0);
    }
  }
}

}  // namespace tk
