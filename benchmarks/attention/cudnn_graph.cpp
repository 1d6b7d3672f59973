// SPDX-License-Identifier: MIT
// cuDNN's objects and their attributes (cudnn_graph.hpp).
#include "benchmarks/attention/cudnn_graph.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <utility>

#include "benchmarks/shared_library.hpp"

namespace tk::bench::cudnn {
namespace {

// Values of cudnn_graph.h, as far as they are needed here alone.
enum heuristic_mode : int { heuristic_a = 3 };
enum value_type : int {
  value_handle = 0,
  value_data_type = 1,
  value_boolean = 2,
  value_int64 = 3,
  value_void_ptr = 6,
  value_heuristic_mode = 8,
  value_pointwise_mode = 14,
  value_descriptor = 15,
  value_reduction = 18
};
enum descriptor_kind : int {
  kind_pointwise = 0,
  kind_engine_config = 3,
  kind_heuristic = 4,
  kind_plan = 5,
  kind_pointwise_operation = 13,
  kind_graph = 15,
  kind_variant_pack = 16,
  kind_tensor = 17,
  kind_matmul = 18,
  kind_matmul_operation = 19,
  kind_reduction = 21,
  kind_reduction_operation = 22,
  kind_reshape_operation = 31
};
enum attribute : int {
  pointwise_mode_is = 0,
  pointwise_precision = 1,
  pointwise_axis = 9,
  heuristic_mode_is = 200,
  heuristic_graph = 201,
  heuristic_results = 202,
  plan_handle = 400,
  plan_config = 401,
  plan_workspace = 402,
  pointwise_op = 750,
  pointwise_x = 751,
  pointwise_b = 752,
  pointwise_y = 753,
  pointwise_t = 758,
  graph_handle = 800,
  graph_operations = 801,
  tensor_alignment = 900,
  tensor_type = 901,
  tensor_sizes = 902,
  tensor_strides = 903,
  tensor_id = 906,
  tensor_is_virtual = 907,
  tensor_is_by_value = 908,
  tensor_starts = 913,
  pack_ids = 1000,
  pack_pointers = 1001,
  pack_workspace = 1003,
  matmul_precision = 1500,
  matmul_a = 1520,
  matmul_b = 1521,
  matmul_c = 1522,
  matmul_op = 1523,
  matmul_rows = 1525,
  matmul_columns = 1526,
  matmul_terms = 1527,
  reduction_operator = 1600,
  reduction_precision = 1601,
  reduction_x = 1610,
  reduction_y = 1611,
  reduction_op = 1612,
  reshape_x = 2200,
  reshape_y = 2201
};
constexpr int no_flag = -1;

struct cudnn_api {
  shared_library library{"libcudnn.so.9", "libcudnn.so"};
  std::size_t (*version)();
  void (*last_error)(char*, std::size_t);
  int (*create)(void**);
  int (*set_stream)(void*, void*);
  int (*create_descriptor)(descriptor_kind, void**);
  int (*destroy_descriptor)(void*);
  int (*set_attribute)(void*, attribute, value_type, std::int64_t, void const*);
  int (*get_attribute)(void*, attribute, value_type, std::int64_t, std::int64_t*, void*);
  int (*finalize)(void*);
  int (*execute)(void*, void*, void*);
  void* handle = nullptr;

  cudnn_api() {
    if (!library) throw std::runtime_error("libcudnn was not found");
    library.find(version, "cudnnGetVersion");
    if (version() < 90100) throw std::runtime_error("libcudnn is older than 9.1");
    library.find(last_error, "cudnnGetLastErrorString");
    library.find(create, "cudnnCreate");
    library.find(set_stream, "cudnnSetStream");
    library.find(create_descriptor, "cudnnBackendCreateDescriptor");
    library.find(destroy_descriptor, "cudnnBackendDestroyDescriptor");
    library.find(set_attribute, "cudnnBackendSetAttribute");
    library.find(get_attribute, "cudnnBackendGetAttribute");
    library.find(finalize, "cudnnBackendFinalize");
    library.find(execute, "cudnnBackendExecute");
    check(create(&handle), "cudnnCreate");
    check(set_stream(handle, nullptr), "cudnnSetStream");
  }
  void check(int status, std::string const& what) const {
    if (status == 0) return;
    std::array<char, 512> text{};
    last_error(text.data(), text.size());
    throw std::runtime_error(what + " gives " + std::to_string(status) + " " + text.data());
  }
};

// Throws std::runtime_error with the reason where there is none.
cudnn_api const& api() {
  static cudnn_api const the_api;
  return the_api;
}

// One of cuDNN's objects: attributes are set, then it is finalized and never changes again. Copies
// share the object.
class descriptor {
 public:
  explicit descriptor(descriptor_kind kind) {
    void* made = nullptr;
    api().check(api().create_descriptor(kind, &made), "a descriptor");
    object_ = std::shared_ptr<void>(made, api().destroy_descriptor);
  }
  void* get() const { return object_.get(); }

  template <class T>
  descriptor& set(attribute what, value_type type, T const* values, std::size_t count) {
    api().check(api().set_attribute(get(), what, type, static_cast<std::int64_t>(count), values),
                "attribute " + std::to_string(what));
    return *this;
  }
  template <class T> descriptor& set(attribute what, value_type type, T const& x) {
    return set(what, type, &x, 1);
  }
  descriptor& set(attribute what, std::shared_ptr<void> const& other) {
    return set(what, value_descriptor, other.get());
  }
  descriptor& set(attribute what, value const* x) { return x ? set(what, x->object) : *this; }
  std::shared_ptr<void> finalize(char const* what) {
    api().check(api().finalize(get()), what);
    return object_;
  }

 private:
  std::shared_ptr<void> object_;
};

data_type precision_of(pointwise_mode mode, data_type result) {
  bool const narrow = result == data_bf16 || result == data_half;
  return narrow || mode == mode_gen_index ? data_float : result;
}

sizes larger(sizes x, sizes const& y) {
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = std::max(x[i], y[i]);
  return x;
}

}  // namespace

data_type type_of(dtype x) {
  return x == dtype::bf16   ? data_bf16
         : x == dtype::fp16 ? data_half
         : x == dtype::fp32 ? data_float
                            : data_int32;
}
std::size_t version() { return api().version(); }
sizes packed_strides(sizes const& n) { return {n[1] * n[2] * n[3], n[2] * n[3], n[3], 1}; }

std::shared_ptr<void> graph::make(data_type type, sizes const& shape, sizes const& strides,
                                  int flag, value const* starts) {
  std::int64_t const id = ++last_id_, alignment = 16;
  descriptor t(kind_tensor);
  t.set(tensor_type, value_data_type, type);
  t.set(tensor_sizes, value_int64, shape.data(), shape.size());
  t.set(tensor_strides, value_int64, strides.data(), strides.size());
  t.set(tensor_id, value_int64, id);
  t.set(tensor_alignment, value_int64, alignment);
  t.set(tensor_starts, starts);
  if (flag != no_flag) t.set(static_cast<attribute>(flag), value_boolean, true);
  return t.finalize("a tensor");
}

void graph::bind(void const* data) {
  ids_.push_back(last_id_);
  pointers_.push_back(const_cast<void*>(data));
}

value graph::at(void const* data, data_type type, sizes const& shape, sizes const& strides,
                value const* starts) {
  value const x{make(type, shape, strides, no_flag, starts), type, shape, strides};
  bind(data);
  return x;
}

value graph::scratch(sizes const& shape) {
  scratches_.push_back(tensor(dtype::fp32, {shape.begin(), shape.end()}));
  scratches_.back().fill_nan();  // the engines clear what they add to
  return at(scratches_.back().data(), data_float, shape, packed_strides(shape));
}

value graph::inside(data_type type, sizes const& shape) {
  sizes const strides = packed_strides(shape);
  return {make(type, shape, strides, tensor_is_virtual, nullptr), type, shape, strides};
}

value graph::number(float x) {
  sizes const one{1, 1, 1, 1};
  value const y{make(data_float, one, one, tensor_is_by_value, nullptr), data_float, one, one};
  bind(&numbers_.emplace_back(x));
  return y;
}

void graph::pointwise(pointwise_mode mode, value const& to, value const& x, value const* b,
                      value const* t, std::int64_t axis) {
  descriptor what(kind_pointwise);
  what.set(pointwise_mode_is, value_pointwise_mode, mode);
  what.set(pointwise_precision, value_data_type, precision_of(mode, to.type));
  if (axis >= 0) what.set(pointwise_axis, value_int64, axis);
  descriptor operation(kind_pointwise_operation);
  operation.set(pointwise_op, what.finalize("a pointwise mode"));
  operation.set(pointwise_x, &x).set(pointwise_y, &to).set(pointwise_b, b).set(pointwise_t, t);
  operations_.push_back(operation.finalize("a pointwise operation"));
}
value graph::apply(pointwise_mode mode, value const& x) {
  value const y = inside(data_float, x.shape);
  pointwise(mode, y, x);
  return y;
}
value graph::apply(pointwise_mode mode, value const& x, value const& b) {
  value const y = inside(data_float, larger(x.shape, b.shape));
  pointwise(mode, y, x, &b);
  return y;
}
value graph::select(value const& t, value const& x, value const& b) {
  value const y = inside(data_float, x.shape);
  pointwise(mode_select, y, x, &b, &t);
  return y;
}
value graph::compare(pointwise_mode mode, value const& x, value const& b) {
  value const y = inside(data_boolean, larger(x.shape, b.shape));
  pointwise(mode, y, x, &b);
  return y;
}
value graph::index(value const& like, std::int64_t axis) {
  value const y = inside(data_int32, like.shape);
  pointwise(mode_gen_index, y, like, nullptr, nullptr, axis);
  return y;
}

value graph::keep(value const& seen, value const& scores) {
  return select(seen, scores, number(-std::numeric_limits<float>::infinity()));
}
value graph::keep_causal(value const& scores) {
  value const row = index(scores, 2), column = index(scores, 3);
  return keep(compare(mode_compare_ge, row, column), scores);
}
value graph::keep_first(value const& rows, value const& columns, value const& scores) {
  value const row = index(scores, 2), column = index(scores, 3);
  value const in_rows = compare(mode_compare_lt, row, rows);
  value const in_columns = compare(mode_compare_lt, column, columns);
  return keep(compare(mode_and, in_rows, in_columns), scores);
}

void graph::reduce(reduction_mode mode, value const& to, value const& x) {
  descriptor what(kind_reduction);
  what.set(reduction_operator, value_reduction, mode);
  what.set(reduction_precision, value_data_type, data_float);
  descriptor operation(kind_reduction_operation);
  operation.set(reduction_op, what.finalize("a reduction mode"));
  operation.set(reduction_x, &x).set(reduction_y, &to);
  operations_.push_back(operation.finalize("a reduction"));
}

void graph::matmul(value const& to, value const& a, value const& b, extents const& of) {
  descriptor what(kind_matmul);
  what.set(matmul_precision, value_data_type, data_float);
  descriptor operation(kind_matmul_operation);
  operation.set(matmul_op, what.finalize("a product's precision"));
  operation.set(matmul_a, &a).set(matmul_b, &b).set(matmul_c, &to);
  operation.set(matmul_rows, of.m).set(matmul_columns, of.n).set(matmul_terms, of.k);
  operations_.push_back(operation.finalize("a product"));
}

value graph::reshaped(data_type type, value const& x) {
  sizes shape = x.shape, strides = x.strides;
  std::swap(shape[2], shape[3]);
  std::swap(strides[2], strides[3]);
  value const y{make(type, shape, strides, tensor_is_virtual, nullptr), type, shape, strides};
  descriptor operation(kind_reshape_operation);
  operation.set(reshape_x, &x).set(reshape_y, &y);
  operations_.push_back(operation.finalize("a reshape"));
  return y;
}

void graph::compile() {
  std::vector<void*> raw;
  raw.reserve(operations_.size());
  for (auto const& x : operations_) raw.push_back(x.get());
  descriptor whole(kind_graph), heuristic(kind_heuristic);
  whole.set(graph_operations, value_descriptor, raw.data(), raw.size());
  whole.set(graph_handle, value_handle, api().handle);
  heuristic.set(heuristic_graph, whole.finalize("the graph"));
  heuristic.set(heuristic_mode_is, value_heuristic_mode, heuristic_a).finalize("its heuristic");
  std::vector<descriptor> configs;
  raw.clear();
  for (int i = 0; i < 8; ++i) raw.push_back(configs.emplace_back(kind_engine_config).get());
  std::int64_t found = 0, count = 0, bytes = 0;
  api().check(api().get_attribute(heuristic.get(), heuristic_results, value_descriptor,
                                  static_cast<std::int64_t>(raw.size()), &found, raw.data()),
              "its engines");
  std::string reason = "its heuristic names no engine";
  for (std::size_t i = 0; i < configs.size() && static_cast<std::int64_t>(i) < found && !plan_;
       ++i) {
    try {
      descriptor candidate(kind_plan);
      candidate.set(plan_handle, value_handle, api().handle);
      candidate.set(plan_config, value_descriptor, configs[i].get());
      plan_ = candidate.finalize("a plan");
    } catch (std::runtime_error const& fault) { reason = fault.what(); }
  }
  if (!plan_) throw std::runtime_error(reason);
  api().check(api().get_attribute(plan_.get(), plan_workspace, value_int64, 1, &count, &bytes),
              "the workspace's size");
  workspace_ = tensor(dtype::fp32, {bytes / 4 + 4});
  descriptor pack(kind_variant_pack);
  pack.set(pack_ids, value_int64, ids_.data(), ids_.size());
  pack.set(pack_pointers, value_void_ptr, pointers_.data(), pointers_.size());
  pack_ = pack.set(pack_workspace, value_void_ptr, workspace_.data())
              .finalize("the tensors' addresses");
}

void graph::run() const {
  api().check(api().execute(api().handle, plan_.get(), pack_.get()), "cudnnBackendExecute");
}

}  // namespace tk::bench::cudnn
