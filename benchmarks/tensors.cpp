// SPDX-License-Identifier: MIT
// Memory and numbers of the benchmarks (tensors.hpp). Random numbers come from a table of 65536
// normal deviates, picked by a hash of a counter: fast, and the same on any number of threads.
#include "benchmarks/tensors.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <set>
#include <stdexcept>
#include <thread>
#include <utility>

#include "backends/runtime.hpp"
#include "core/element.hpp"

namespace tk::bench {
namespace {

std::uint64_t hash(std::uint64_t x) {  // splitmix64's finaliser
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

std::vector<float> const& normal_table() {
  static std::vector<float> const table = [] {
    std::mt19937_64 random(1);
    std::normal_distribution<float> normal;
    std::vector<float> values(1 << 16);
    for (float& x : values) x = normal(random);
    return values;
  }();
  return table;
}

// Chunks are independent: element i depends on the seed and on i alone.
template <class T> void fill(std::vector<std::byte>& to, std::uint64_t seed, double size) {
  auto const& normals = normal_table();
  std::vector<T> table(normals.size());
  std::transform(normals.begin(), normals.end(), table.begin(),
                 [&](float x) { return round_to<T>(x * static_cast<float>(size)); });
  std::int64_t const n = static_cast<std::int64_t>(to.size() / sizeof(T)), part = 1 << 18;
  parallel_for((n + part - 1) / part, [&](std::int64_t chunk) {
    for (std::int64_t i = chunk * part; i < std::min(n, (chunk + 1) * part); ++i) {
      T const x = table[hash(hash(seed) + static_cast<std::uint64_t>(i)) >> 48];
      std::memcpy(to.data() + i * static_cast<std::int64_t>(sizeof(T)), &x, sizeof(T));
    }
  });
}

template <class T>
void widen_all(double* to, std::byte const* from, std::int64_t n, std::int64_t step) {
  for (std::int64_t i = 0; i < n; ++i) {
    T x;
    std::memcpy(&x, from + i * step * static_cast<std::int64_t>(sizeof(T)), sizeof(T));
    to[i] = widen(x);
  }
}

}  // namespace

dtype parse_dtype(std::string const& name) {
  for (dtype type : {dtype::bf16, dtype::fp16, dtype::fp32})
    if (name == name_of(type)) return type;
  throw std::runtime_error("'" + name + "' is no element type: bf16, fp16 or fp32");
}

char const* name_of(dtype type) {
  return type == dtype::bf16       ? "bf16"
         : type == dtype::fp16     ? "fp16"
         : type == dtype::fp32     ? "fp32"
         : type == dtype::int32    ? "int32"
         : type == dtype::fp8_e4m3 ? "fp8 e4m3"
         : type == dtype::fp8_e5m2 ? "fp8 e5m2"
                                   : "bool";
}

double rounded(dtype type, double x) {
  float const y = static_cast<float>(x);
  if (type == dtype::bf16) return widen(round_to<bf16>(y));
  if (type == dtype::fp16) return widen(round_to<fp16>(y));
  if (type == dtype::fp8_e4m3) return widen(round_to<fp8_e4m3>(y));
  if (type == dtype::fp8_e5m2) return widen(round_to<fp8_e5m2>(y));
  return y;
}

tensor::tensor(dtype type, std::vector<std::int64_t> shape)
    : owned_(true), type_(type), shape_(std::move(shape)), strides_(shape_.size(), 1) {
  for (std::size_t i = shape_.size(); i-- > 1;) strides_[i - 1] = strides_[i] * shape_[i];
  data_ = be::rt::allocate(static_cast<std::size_t>(bytes()));
}

tensor::tensor(std::vector<float> const& values)
    : tensor(dtype::fp32, {static_cast<std::int64_t>(values.size())}) {
  be::rt::copy_in(data_, values.data(), static_cast<std::size_t>(bytes()));
}
tensor::tensor(std::vector<std::int32_t> const& values)
    : tensor(dtype::int32, {static_cast<std::int64_t>(values.size())}) {
  be::rt::copy_in(data_, values.data(), static_cast<std::size_t>(bytes()));
}

tensor::tensor(tensor&& x) noexcept { *this = std::move(x); }

tensor& tensor::operator=(tensor&& x) noexcept {
  std::swap(data_, x.data_);
  std::swap(host_, x.host_);
  std::swap(host_copy_, x.host_copy_);
  std::swap(owned_, x.owned_);
  std::swap(type_, x.type_);
  std::swap(shape_, x.shape_);
  std::swap(strides_, x.strides_);
  return *this;
}

tensor::~tensor() {
  if (owned_) be::rt::release(data_);
}

tensor tensor::slice(std::int64_t offset, std::vector<std::int64_t> shape,
                     std::vector<std::int64_t> strides) const {
  tensor part;
  part.data_ = static_cast<std::byte*>(data_) + offset * bytes_of(type_);
  part.host_ = host_ + offset * bytes_of(type_);
  part.type_ = type_;
  part.shape_ = std::move(shape);
  part.strides_ = std::move(strides);
  return part;
}

void tensor::fill_normal(std::uint64_t seed, double size) {
  host_copy_.resize(static_cast<std::size_t>(bytes()));
  host_ = host_copy_.data();
  if (type_ == dtype::bf16) fill<bf16>(host_copy_, seed, size);
  if (type_ == dtype::fp16) fill<fp16>(host_copy_, seed, size);
  if (type_ == dtype::fp32) fill<float>(host_copy_, seed, size);
  be::rt::copy_in(data_, host_copy_.data(), host_copy_.size());
}

void tensor::fill_coins(std::uint64_t seed) {
  host_copy_.resize(static_cast<std::size_t>(bytes()));
  host_ = host_copy_.data();
  for (std::size_t i = 0; i < host_copy_.size(); ++i)
    host_copy_[i] = std::byte{hash(hash(seed) + i) % 8 != 0};
  be::rt::copy_in(data_, host_copy_.data(), host_copy_.size());
}

void tensor::fill_nan() { be::rt::fill(data_, 0xff, static_cast<std::size_t>(bytes())); }

std::vector<std::byte> tensor::copy_out() const {
  std::vector<std::byte> values(static_cast<std::size_t>(bytes()));
  be::rt::copy_out(values.data(), data_, values.size());
  return values;
}

void tensor::read(double* to, std::int64_t offset, std::int64_t n, std::int64_t step) const {
  read(to, type_, host_ + offset * bytes_of(type_), n, step);
}

void tensor::read(double* to, dtype type, std::byte const* from, std::int64_t n,
                  std::int64_t step) {
  if (type == dtype::bf16) widen_all<bf16>(to, from, n, step);
  if (type == dtype::fp16) widen_all<fp16>(to, from, n, step);
  if (type == dtype::fp32) widen_all<float>(to, from, n, step);
  if (type == dtype::fp8_e4m3) widen_all<fp8_e4m3>(to, from, n, step);
  if (type == dtype::fp8_e5m2) widen_all<fp8_e5m2>(to, from, n, step);
  if (type == dtype::boolean) widen_all<boolean>(to, from, n, step);
}

DLTensor tensor::dl() const {
  DLTensor t{};
  t.data = data_;
  t.device.device_type = static_cast<DLDeviceType>(tk_device_type());
  t.ndim = static_cast<int>(shape_.size());
  int const code = type_ == dtype::bf16       ? kDLBfloat
                   : type_ == dtype::int32    ? kDLInt
                   : type_ == dtype::fp8_e4m3 ? TK_DL_FLOAT8_E4M3FN
                   : type_ == dtype::fp8_e5m2 ? TK_DL_FLOAT8_E5M2
                   : type_ == dtype::boolean  ? TK_DL_BOOL
                                              : kDLFloat;
  t.dtype = {static_cast<std::uint8_t>(code), static_cast<std::uint8_t>(8 * bytes_of(type_)), 1};
  t.shape = const_cast<std::int64_t*>(shape_.data());  // DLPack has no const; they are only read
  t.strides = const_cast<std::int64_t*>(strides_.data());
  return t;
}

std::int64_t tensor::size() const {
  std::int64_t n = 1;
  for (std::int64_t x : shape_) n *= x;
  return n;
}

void parallel_for(std::int64_t n, std::function<void(std::int64_t)> const& body) {
  std::atomic<std::int64_t> next = 0;
  auto const work = [&] {
    for (std::int64_t i = next++; i < n; i = next++) body(i);
  };
  std::int64_t const count = std::max<std::int64_t>(1, std::thread::hardware_concurrency());
  std::vector<std::jthread> threads;
  for (std::int64_t i = 1; i < std::min(count, n); ++i) threads.emplace_back(work);
  work();
}

std::vector<std::int64_t> sample_rows(std::int64_t n, std::int64_t wanted) {
  std::set<std::int64_t> rows;
  if (n <= wanted) {
    for (std::int64_t i = 0; i < n; ++i) rows.insert(i);
  } else {
    for (std::int64_t edge : {0, 64, 128, 192, 256})
      for (std::int64_t i : {edge - 1, edge, n - 1 - edge, n - edge, (n - 1) / 64 * 64 - edge})
        if (i >= 0 && i < n) rows.insert(i);
    for (std::uint64_t i = 0; static_cast<std::int64_t>(rows.size()) < wanted; ++i)
      rows.insert(static_cast<std::int64_t>(hash(i) % static_cast<std::uint64_t>(n)));
  }
  return {rows.begin(), rows.end()};
}

void deviation::add(dtype type, double x, double ref) {
  error += (x - ref) * (x - ref);
  double const nearest = rounded(type, ref);
  rounding += (nearest - ref) * (nearest - ref);
  reference += ref * ref;
}

double deviation::relative() const {
  double const e = std::sqrt(error / (reference > 0 ? reference : 1));
  return std::isnan(e) ? std::numeric_limits<double>::infinity() : e;
}

double deviation::relative_floor() const {
  return std::sqrt(rounding / (reference > 0 ? reference : 1));
}

bool all_finite(dtype type, std::vector<std::byte> const& values) {
  std::int64_t const n = static_cast<std::int64_t>(values.size()) / bytes_of(type), part = 1 << 18;
  std::atomic<bool> finite = true;
  parallel_for((n + part - 1) / part, [&](std::int64_t chunk) {
    std::int64_t const first = chunk * part, count = std::min(part, n - first);
    std::vector<double> x(static_cast<std::size_t>(count));
    tensor::read(x.data(), type, values.data() + first * bytes_of(type), count);
    if (!std::all_of(x.begin(), x.end(), [](double y) { return std::isfinite(y); })) finite = false;
  });
  return finite;
}

}  // namespace tk::bench
