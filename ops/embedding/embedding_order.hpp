// SPDX-License-Identifier: MIT
// embedding backward, tokens by the rows that they name. embedding_order<Id> is instantiated for
// each type of numbers.
#pragma once
#include "core/sort_by_key.hpp"
#include "ops/embedding/backward_problem.hpp"
#include "ops/embedding/token_rows.hpp"

namespace tk {

template <class Id> struct token_ids {
  counted_rows<Id const> ids;
  std::int64_t rows, ignored;
  int ignores;  // a flag, but a word

  TK_BOTH std::uint32_t key(int token) const {
    std::int64_t const id = *ids.at(token, 0);
    bool const counts = id >= 0 && id < rows && !(ignores && id == ignored);
    return static_cast<std::uint32_t>(counts ? id : rows);
  }
  TK_BOTH std::int32_t number(int token) const { return token; }
};

template <class Id>
sorted_items embedding_order<Id>::launch(embedding_backward_problem const& x,
                                         sort_memory const& memory, void* stream) {
  token_ids<Id> const tokens{rows_of_tokens<Id const>(x.ids), x.dtable.rows, x.ignored_id,
                             x.ignores};
  auto const limit = static_cast<std::uint32_t>(x.dtable.rows) + 1;
  return sort_by_key(tokens, x.tokens(), limit, memory, stream);
}

}  // namespace tk
