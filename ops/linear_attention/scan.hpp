// SPDX-License-Identifier: MIT
// What linear attention's ops are made of on the host: decays summed up within chunks, and scans.
#pragma once
#include <initializer_list>

#include "ops/linear_attention/plan.hpp"

namespace tk {

// The scans of a call: of one type, and of up to `columns` columns of q and k; each runs the
// instance for its own, where chunks and segments are those of the largest. Throws what it can't
// do; the query and the launch lay out the workspace with the same calls. The members are in
// ops/linear_attention/scans.hpp, for each family's own instantiation.
template <class Family> class scans {
 public:
  scans(heads const& like, std::int64_t columns, token_decays const& decays,
        sequence_starts const& starts);

  void lay_out_decays(workspace_layout& w);
  // The offset of segments' states, for scans of so many columns of q and v, one after another; 0
  // where none are kept.
  struct shape {
    std::int64_t d, columns;
    head_shares shares{};
    bool meets = false;
  };
  std::size_t lay_out_states(workspace_layout& w, std::initializer_list<shape> shapes) const;

  // How workers side by side cut sequences: into walks of `each` chunks, whose beginnings are made
  // of sums of `each_sum` chunks; 0: they are whole. each is 0 where there are no such workers.
  struct side_cut {
    int each = 0, each_sum = 0;
  };
  side_cut cut_side_by_side(shape const& x) const;

  scan_rows const& rows() const { return rows_; }
  int chunk() const { return sizes_.C; }
  int chunks() const { return rows_.blocks(sizes_.C); }
  // Of the instance for d columns of q.
  scan_sizes sizes_of(std::int64_t d) const;

  decay_table decays(void* workspace) const {
    return {in_workspace<float>(workspace, table_), decays_.of_heads};
  }
  void sum_decays(void* workspace, void* stream) const;
  // x with its tensors, states' offset and the options of its own.
  void launch(scan_problem x, std::size_t states, void* workspace, void* stream) const;

 private:
  int columns_for(std::int64_t d) const;
  int segments_of_walk(shape const& x) const;  // 0 where sequences are not cut

  element type_;
  int columns_;
  token_decays decays_;
  scan_rows rows_;
  scan_sizes sizes_;
  std::size_t table_ = 0;
};

// The workspace of what two scans of a backward leave for the gradients of decays.
class meetings_layout {
 public:
  // For scans of d columns of q and so many of v, elements of 16 bits.
  template <class Family>
  void lay_out(workspace_layout& w, scans<Family> const& of, std::int64_t d, std::int64_t columns) {
    auto const sizes = of.sizes_of(d);
    C_ = sizes.C, D_ = sizes.D, units_ = sizes.units(columns);
    auto const units = static_cast<std::size_t>(of.chunks()) * of.rows().h * units_;
    for (auto& at : sums_) at = w.add(units * C_ * sizeof(float));
    products_ = w.add(units * D_ * sizeof(float));
    states_ = w.add(units * D_ * sizes.P * 2);
  }
  // Asks the scan for them: the first one, or the reversed one.
  void ask(scan_problem& x, heads const& met, void* workspace) const {
    x.met = met;
    x.meetings = in_workspace<float>(workspace, sums_[x.reversed]);
    x.met_states = in_workspace<float>(workspace, products_);
    x.kept = in_workspace<char>(workspace, states_);
  }
  decay_meetings left(void* workspace, decay_table const& decays) const {
    return {{in_workspace<float>(workspace, sums_[0]), in_workspace<float>(workspace, sums_[1])},
            in_workspace<float>(workspace, products_),
            units_,
            C_,
            D_,
            decays};
  }

 private:
  int C_ = 0, D_ = 0, units_ = 0;
  std::size_t sums_[2] = {}, products_ = 0, states_ = 0;
};

}  // namespace tk
