/work/main/tests/contract/placed.hpp.o: \
 /work/main/tests/contract/product.cpp \
 /work/main/tests/contract/support.hpp /work/main/backends/kernel.hpp \
 /work/main/backends/backend.hpp /work/main/backends/select.hpp \
 /work/main/backends/host/arch.hpp /work/main/backends/host/fragment.hpp \
 /work/main/backends/host/arithmetic.hpp /work/main/core/element.hpp \
 /work/main/backends/host/copy.hpp /work/main/core/move.hpp \
 /work/main/core/expression.hpp /work/main/core/tensor.hpp \
 /work/main/core/tile.hpp /work/main/core/layout.hpp \
 /work/main/core/reduce.hpp /work/main/backends/host/mma.hpp \
 /work/main/backends/host/simd.hpp /work/main/backends/host/sync.hpp \
 /work/main/backends/host/block.hpp /work/main/core/block.hpp \
 /work/main/backends/host/launch.hpp /work/main/backends/host/grid.hpp \
 /work/main/core/status.hpp /work/main/backends/host/runtime.hpp \
 /work/main/backends/host/tune.hpp /work/main/backends/runtime.hpp \
 /work/main/core/product.hpp /work/main/tests/support/random.hpp \
 /work/main/tests/core/shapes.hpp
