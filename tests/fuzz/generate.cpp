// SPDX-License-Identifier: MIT
// See generate.hpp.
#include "tests/fuzz/generate.hpp"

#include <algorithm>
#include <bit>
#include <limits>

namespace fuzz {
namespace {

constexpr i64 large[] = {i64(1) << 31, (i64(1) << 31) - 1025, i64(1) << 30,
                         i64(1) << 24, i64(1) << 20,          i64(1) << 16};

i64 times(i64 x, i64 y) {
  return static_cast<i64>(static_cast<std::uint64_t>(x) * static_cast<std::uint64_t>(y));
}

// Rows further apart.
void pad(tensor_spec& t, i64 by) {
  auto const row = static_cast<std::size_t>(t.ndim) - 2;
  t.strides[row] += by;
  for (std::size_t i = row; i-- > 0;) t.strides[i] = t.strides[i + 1] * t.shape[i + 1];
}

// As if axes `i` and the one after it had been swapped; the last stays contiguous.
void permute(tensor_spec& t, std::size_t i) {
  if (i + 2 >= static_cast<std::size_t>(t.ndim)) return;
  t.strides[i + 1] = t.strides[i + 2] * t.shape[i + 2];
  t.strides[i] = t.strides[i + 1];
  t.strides[i + 1] *= t.shape[i];
}

std::uint64_t address_in_arena(i64 offset) {
  return reinterpret_cast<std::uintptr_t>(arena) + static_cast<std::uint64_t>(offset);
}

}  // namespace

call_spec generator::make() {
  auto const& ops = all_ops();
  x_.op = ops[static_cast<std::size_t>(number(0, i64(ops.size()) - 1))];
  x_.tensors.resize(x_.op->tensors.size());
  huge_ = number(0, 5) == 0;
  in_order_ = number(0, 3) != 0;
  shared_row_ = number(1, 96);
  x_.op->make(*this);
  make_struct();
  make_workspace();
  auto const how = number(0, 15);
  if (how <= 2) put_together();
  else
    for (auto i = how == 3 ? 24 : number(0, 3); i > 0; --i) spoil();
  // No header's struct ever ended inside a pointer.
  auto const leave_out = [&](std::size_t offset) {
    bool const inside = x_.size > offset && x_.size < offset + sizeof(void*);
    if (inside && x_.size >= x_.op->first_bytes) x_.size = offset;
  };
  for (auto const& field : x_.op->tensors) leave_out(field.offset);
  if (x_.op->part_bytes) leave_out(x_.op->part_at);
  return x_;
}

tensor_spec& generator::at(std::string_view name) {
  for (std::size_t i = 0; i < x_.tensors.size(); ++i)
    if (x_.op->tensors[i].name == name) return x_.tensors[i];
  broken("an op's generator names a tensor that the op lacks");
}

bool generator::has(std::string_view name) const {
  auto const& all = x_.op->tensors;
  return std::any_of(all.begin(), all.end(), [&](auto const& t) { return t.name == name; });
}

tensor_spec& generator::any_tensor() {
  return x_.tensors[static_cast<std::size_t>(number(0, i64(x_.tensors.size()) - 1))];
}

i64 generator::small_size() {
  static constexpr i64 often[] = {1, 2, 3, 4, 5, 7, 8, 9, 16, 17, 24, 1, 2, 0};
  return any_of(often);
}

i64 generator::size() {
  static constexpr i64 rarely[] = {31, 63, 64, 65, 128, 129, 256, 768, 1000, 2048};
  if (huge_ && flip()) return any_of(large) + number(-1, 1);
  return number(0, 7) ? small_size() : any_of(rarely);
}

i64 generator::wild() {
  constexpr auto low = std::numeric_limits<i64>::min(), high = std::numeric_limits<i64>::max();
  constexpr i64 two31 = i64(1) << 31;
  static constexpr i64 edges[] = {0,
                                  1,
                                  -1,
                                  2,
                                  -2,
                                  low,
                                  high,
                                  low + 1,
                                  high - 1,
                                  two31,
                                  -two31,
                                  high / 2,
                                  low / 2,
                                  two31 - 1,
                                  two31 - 1024,
                                  two31 - 1025,
                                  2 * two31,
                                  high / 4,
                                  i64(1) << 20,
                                  i64(1) << 40,
                                  i64(1) << 46,
                                  3 * 1000003,
                                  65535};
  switch (number(0, 3)) {
    case 0: return number(low, high);
    case 1: return number(-300, 300);
    default: return any_of(edges);
  }
}

float generator::wild_float() {
  constexpr auto inf = std::numeric_limits<float>::infinity();
  static constexpr float edges[] = {0.f, -0.f, 1.f, inf, -inf, 1e-45f, 3e38f};
  if (number(0, 4) == 0)
    return std::bit_cast<float>(static_cast<std::uint32_t>(number(0, (i64(1) << 32) - 1)));
  return number(0, 4) ? any_of(edges) : std::numeric_limits<float>::quiet_NaN();
}

// ---- a correct tensor
void generator::lay_out(tensor_spec& t, bool output) {
  auto const rank = static_cast<std::size_t>(t.ndim);
  i64 next = 1;
  for (std::size_t i = rank; i-- > 0; next = times(next, t.shape[i])) t.strides[i] = next;
  if (huge_) return lay_out_huge(t, output);
  if (rank < 2) return void(t.has_strides = flip());
  auto const outer = static_cast<std::size_t>(number(0, i64(rank) - 2));
  switch (number(0, 9)) {
    case 0: t.has_strides = false; break;
    case 1:
    case 2: break;
    case 3: pad(t, number(1, 16)); break;
    case 4:
      pad(t, number(0, 3));
      t.strides[outer] = -t.strides[outer];
      break;
    case 5:
      if (!output || flip()) t.strides[outer] = 0;
      break;
    case 6: permute(t, outer); break;
    case 7: t.strides[outer] = number(-64, 64); break;
    case 8: pad(t, shared_row_ - t.shape[rank - 1]); break;
    default:
      for (std::size_t i = 0; i + 1 < rank; ++i) t.strides[i] = number(-128, 128);
  }
}

// More elements than memory holds; an input's may lie on each other.
void generator::lay_out_huge(tensor_spec& t, bool output) {
  if (output ? number(0, 3) : flip()) return;
  for (int i = 0; i + 1 < t.ndim; ++i)
    t.strides[static_cast<std::size_t>(i)] = number(0, 3) == 0 ? wild()
                                             : flip()          ? number(-9, 9)
                                                               : 3000009 - 6 * number(0, 99);
}

void generator::place(tensor_spec& t) {
  i64 const width = t.bits / 8;
  if (huge_) return void(t.data = address_in_arena(number(0, arena_bytes) / width * width));
  i64 low = 0, high = 0;
  for (std::size_t i = 0; i < static_cast<std::size_t>(t.ndim); ++i) {
    auto const reach = t.strides[i] * (t.shape[i] > 0 ? t.shape[i] - 1 : 0);
    (reach < 0 ? low : high) += reach;
  }
  i64 const bytes = (high - low + 1) * width;
  if (!in_order_ || cursor_ + bytes > i64(arena_bytes)) cursor_ = number(0, arena_bytes - 1);
  cursor_ = (cursor_ + width - 1) / width * width;
  i64 const offset = flip() ? number(0, 64) : 0;
  t.data = address_in_arena(cursor_ - low * width - offset);
  t.byte_offset = static_cast<std::uint64_t>(offset);
  cursor_ += bytes + (flip() ? number(0, 32) : 0);
}

void generator::tensor(std::string_view name, type of, sizes const& shape) {
  auto& t = at(name);
  t.code = of.code, t.bits = of.bits;
  t.ndim = static_cast<int>(shape.size());
  t.shape.fill(1), t.strides.fill(1);
  std::copy(shape.begin(), shape.end(), t.shape.begin());
  lay_out(t, x_.op->tensors[static_cast<std::size_t>(&t - x_.tensors.data())].output);
  place(t);
}

// ---- a correct struct, of this version, an older or a newer one, and a workspace
void generator::make_struct() {
  auto const known = i64(x_.op->struct_bytes);
  require(i64(x_.fields.size()) == known || x_.has_part, "an op's generator made another struct");
  x_.fields.resize(x_.op->struct_bytes + x_.op->part_bytes);
  auto const how = number(0, 7);
  constexpr i64 word = sizeof(std::size_t);
  auto const size =
      how == 0 ? number(i64(x_.op->first_bytes) / word, known / word) * word
      : how == 1
          ? number(known / word, (number(0, 3) ? known + 64 : i64(largest_struct)) / word) * word
          : known;
  x_.size = static_cast<std::size_t>(size);
}

void generator::make_workspace() {
  auto const how = number(0, 15);
  x_.where = how == 0 ? workspace_in::nowhere : how < 12 ? workspace_in::pool : workspace_in::arena;
  if (x_.where == workspace_in::arena) x_.workspace_shift = std::uint64_t(number(0, 8191)) * 16;
  else if (number(0, 7) == 0) x_.workspace_shift = std::uint64_t(number(0, 17));
  x_.workspace_more = number(0, 7) ? 0 : number(0, 2) ? number(-17, 64) : wild();
}

// ---- a fault, or what looks like one
void generator::spoil() {
  if (number(0, 3) == 0) return spoil_struct();
  auto& t = any_tensor();
  auto const axis = static_cast<std::size_t>(number(0, t.ndim > 0 && t.ndim < 8 ? t.ndim - 1 : 7));
  switch (number(0, 16)) {
    case 0: t.given = !t.given; break;
    case 1: t = any_tensor(); break;
    case 2: t.device_type = flip() ? static_cast<int>(number(0, 17)) : wild_int(); break;
    case 3: t.device_id = wild_int(); break;
    case 4: {
      static constexpr type others[] = {bf16,
                                        fp16,
                                        fp32,
                                        {TK_DL_FLOAT8_E4M3FN, 8},
                                        {kDLInt, 16},
                                        {kDLFloat, 64},
                                        {TK_DL_FLOAT8_E5M2, 8},
                                        boolean};
      auto const of = any_of(others);
      t.code = of.code, t.bits = of.bits;
      break;
    }
    case 5:
      (flip() ? t.code : t.bits) = flip() ? static_cast<int>(number(0, 32)) : wild_int();
      break;
    case 6: t.lanes = wild_int(); break;
    case 7: t.ndim = number(0, 2) ? static_cast<int>(number(-1, 9)) : wild_int(); break;
    case 8: t.has_shape = !t.has_shape; break;
    case 9: t.shape[axis] = flip() ? size() : wild(); break;
    case 10: t.strides[axis] = flip() ? number(-300, 300) : wild(); break;
    case 11: t.has_strides = !t.has_strides; break;
    case 12: t.data = flip() ? 0 : static_cast<std::uint64_t>(wild()); break;
    case 13: t.data += static_cast<std::uint64_t>(number(-4, 4)); break;
    case 14: t.data = address_in_arena(number(0, arena_bytes)); break;
    case 15: put_at_edge(t); break;
    default: t.byte_offset = flip() ? t.byte_offset + 1 : static_cast<std::uint64_t>(wild());
  }
}

// Two tensors begin at one address, or nearly so.
void generator::put_together() {
  auto &x = any_tensor(), &y = any_tensor();
  x.data = y.data + 4 * static_cast<std::uint64_t>(number(-2, 2));
  x.byte_offset = y.byte_offset;
}

// The tensor just within 64 bits, or just past them.
void generator::put_at_edge(tensor_spec& t) {
  if (t.ndim < 2 || t.ndim > 8) return;
  auto const rank = static_cast<std::size_t>(t.ndim);
  wide const width = t.bits == 32 ? 4 : 2, past = number(-2, 2);
  wide low = 0, high = 0;
  bool const far = number(0, 2) == 0;  // through the outer stride, else by the address
  for (std::size_t i = far; i < rank; ++i) {
    wide const steps = t.shape[i] > 0 ? wide(t.shape[i]) - 1 : 0;
    wide const reach = steps * t.strides[i];
    (reach < 0 ? low : high) += reach;
  }
  t.has_strides = true;
  if (far) {
    wide const steps = t.shape[0] > 1 ? t.shape[0] - 1 : 1;
    wide const stride = ((wide(1) << 63) / width - (high - low) + past) / steps;
    t.strides[0] = static_cast<i64>(flip() ? stride : -stride);
  } else {
    t.data = static_cast<std::uint64_t>(past - (flip() ? low : high + 1) * width);
  }
  if (flip()) t.byte_offset = 0;
}

void generator::spoil_option(option_field const& field) {
  auto const store = [&](auto number) {
    static_assert(sizeof number == 4);
    std::memcpy(x_.fields.data() + field.offset, &number, sizeof number);
  };
  switch (field.is) {
    case option_field::choice:
      return store(flip() ? static_cast<int>(number(0, field.choices)) : wild_int());
    case option_field::factor: return store(wild_float());
    case option_field::reserved: return store(flip() ? 1 : wild_int());
    case option_field::number: return store(wild_int());
    case option_field::wide_number: {
      i64 const x = wild();
      std::memcpy(x_.fields.data() + field.offset, &x, sizeof x);
    }
  }
}

void generator::spoil_struct() {
  auto const& options = x_.op->options;
  if (x_.op->part_bytes && number(0, 15) == 0) {
    if (flip()) x_.has_part = !x_.has_part;
    else x_.part_size = flip() ? x_.op->part_bytes + 8 : static_cast<std::size_t>(number(0, 160));
    return;
  }
  if (number(0, 7) && !options.empty())
    return spoil_option(options[static_cast<std::size_t>(number(0, i64(options.size()) - 1))]);
  if (flip()) {
    i64 const first = i64(x_.op->first_bytes), known = i64(x_.op->struct_bytes);
    i64 const most = i64(largest_struct), edges[] = {first - 1, first, known + 1, most, most + 1};
    auto const size = number(0, 2) == 0 ? any_of(edges) : flip() ? number(0, 160) : wild();
    x_.size = static_cast<std::size_t>(size);
  } else {
    auto const known = i64(x_.op->struct_bytes), last = number(known, known + 64);
    x_.size = static_cast<std::size_t>(last) + 1;
    x_.tail_at = static_cast<std::size_t>(flip() ? last : number(known, last));
    x_.tail_byte = static_cast<unsigned char>(number(0, 255));
  }
}

}  // namespace fuzz
