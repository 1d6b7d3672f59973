// SPDX-License-Identifier: MIT
// Graphs of cuDNN 9, through its C interface by dlopen (cuDNN documentation, "Graph API"). A graph
// is made of operations on tensors of four dimensions; cuDNN's engines fuse the patterns that they
// know to the letter, and refuse others. What fails throws std::runtime_error with cuDNN's reason.
#pragma once
#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "benchmarks/tensors.hpp"

namespace tk::bench::cudnn {

// Values of cudnn_graph.h, as far as they are needed.
enum data_type : int {
  data_float = 0,
  data_half = 2,
  data_int32 = 4,
  data_bf16 = 9,
  data_boolean = 11
};
enum pointwise_mode : int {
  mode_add = 0,
  mode_mul = 1,
  mode_div = 6,
  mode_sub = 9,
  mode_exp = 13,
  mode_log = 15,
  mode_identity = 21,
  mode_tanh = 101,
  mode_compare_gt = 302,
  mode_compare_ge = 303,
  mode_compare_lt = 304,
  mode_and = 400,
  mode_gen_index = 501,
  mode_select = 601
};
enum reduction_mode : int { reduce_add = 0, reduce_max = 3 };

data_type type_of(dtype x);
std::size_t version();  // throws where there is no cuDNN

using sizes = std::array<std::int64_t, 4>;
sizes packed_strides(sizes const& n);

// A tensor of a graph; copies are the same one.
struct value {
  std::shared_ptr<void> object;
  data_type type;
  sizes shape, strides;
};

// Of a product's rows, columns and terms as many as int32 [b, 1, 1, 1] say, where they are given.
struct extents {
  value const *m = nullptr, *n = nullptr, *k = nullptr;
};

class graph {
 public:
  graph() = default;
  graph(graph const&) = delete;
  graph& operator=(graph const&) = delete;

  // ---- tensors
  // In the device's memory. With `starts`, int32 [b + 1, 1, 1, 1], batch i begins at element
  // starts[i], and strides[0] is not used.
  value at(void const* data, data_type type, sizes const& shape, sizes const& strides,
           value const* starts = nullptr);
  value scratch(sizes const& shape);                 // fp32, in memory of the graph's own
  value inside(data_type type, sizes const& shape);  // exists in the fused kernel alone
  value number(float x);                             // in the host's memory

  // ---- operations; what they return is inside
  value apply(pointwise_mode mode, value const& x);  // in fp32
  value apply(pointwise_mode mode, value const& x, value const& b);
  value select(value const& t, value const& x, value const& b);  // t ? x : b
  value compare(pointwise_mode mode, value const& x, value const& b);
  value index(value const& like, std::int64_t axis);  // int32: the position along an axis
  // Scores [b, h, rows, columns], -inf where the position in `seen` is 0; where its column is past
  // its row; and past the first rows and columns, of which int32 [b, 1, 1, 1] are the numbers.
  value keep(value const& seen, value const& scores);
  value keep_causal(value const& scores);
  value keep_first(value const& rows, value const& columns, value const& scores);
  void pointwise(pointwise_mode mode, value const& to, value const& x, value const* b = nullptr,
                 value const* t = nullptr, std::int64_t axis = -1);
  void reduce(reduction_mode mode, value const& to, value const& x);
  void matmul(value const& to, value const& a, value const& b, extents const& of = {});
  value reshaped(data_type type, value const& x);  // the last two dimensions in turn

  // The first of the heuristic's engines that takes the graph, compiled for this card.
  void compile();
  void run() const;  // on the default stream

 private:
  std::shared_ptr<void> make(data_type type, sizes const& shape, sizes const& strides, int flag,
                             value const* starts);
  void bind(void const* data);  // of the tensor made last

  std::int64_t last_id_ = 0;
  std::vector<std::int64_t> ids_;
  std::vector<void*> pointers_;
  std::deque<float> numbers_;  // read when it runs
  std::deque<tensor> scratches_;
  std::vector<std::shared_ptr<void>> operations_;
  std::shared_ptr<void> plan_, pack_;
  tensor workspace_;
};

}  // namespace tk::bench::cudnn
