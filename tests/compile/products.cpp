// SPDX-License-Identifier: MIT
// Products whose operands don't fit, would be gone too early, or that no chip can do.
// expect TEMPORARY: deleted
// expect SUBTRACTED_TEMPORARY: deleted
// expect SUBTRACTED_SIZES: mms_ab: d is \[m, n\], a \[m, k\], b \[k, n\]
// expect SUBTRACTED_TYPES: the operands of a product have one element type
// expect INNER_SIZES: mm_ab: d is \[m, n\], a \[m, k\], b \[k, n\]
// expect INNER_SIZES_BT: mm_abt: d is \[m, n\], a \[m, k\], b \[n, k\]
// expect INNER_SIZES_AT: mm_atb: d is \[m, n\], a \[k, m\], b \[k, n\]
// expect INNER_SIZES_ATBT: mm_atbt: d is \[m, n\], a \[k, m\], b \[n, k\]
// expect OUTER_SIZES: mm_ab: d is \[m, n\]
// expect MIXED_SHARED: the operands of a product have one element type, or are both fp8
// expect MIXED_REGISTER: the operands of a product have one element type, or are both fp8
// expect MIXED_SIZES: the operands of a product have one element type, or are both fp8
// expect FP32_OPERAND: the operands of a product are bf16, fp16 or fp8
// expect FP8_AB: k is contiguous in both operands of an fp8 product
// expect FP8_ATB: k is contiguous in both operands of an fp8 product
// expect FP8_ATBT: k is contiguous in both operands of an fp8 product
// expect FP8_REGISTER: the left operand of an fp8 product is a shared tile
// expect RIGHT_REGISTER: the right operand of a product is a shared tile
// expect LEFT_TRANSPOSED_REGISTER: a transposed left operand is a shared tile
// expect TOO_WIDE: a product writes at most 256 columns
// expect BF16_SUMS: sums of products are fp32, or fp16 where both operands are
// expect NARROW_SUMS: a product writes 16 columns of fp16, or a multiple of 32
#include "tests/compile/program.hpp"

namespace tk::test {

struct none {
  template <class Context> TK_DEVICE void operator()(Context&) const {}
};

struct with_operands : program<none> {
  struct scratch {
    shared_tile<bf16, R, 32> a;
    shared_tile<bf16, 32, R> at;
    shared_tile<bf16, 32, 64> b;
    shared_tile<bf16, 64, 32> bt;
    shared_tile<fp8_e4m3, 64, 64> x8;
    shared_tile<fp8_e5m2, 64, 64> y8;
#if defined(MIXED_SHARED)
    shared_tile<fp16, 32, 64> other;
#elif defined(FP32_OPERAND)
    shared_tile<float, 32, 64> other;
#elif defined(TOO_WIDE)
    shared_tile<bf16, 32, 272> other;
#elif defined(NARROW_SUMS)
    shared_tile<fp16, R, 32> left;
    shared_tile<fp16, 32, 48> other;
#endif
  };
  template <class Context> static TK_DEVICE void compute(Context& c, args const&, task const&) {
    auto& s = c.scratch;
    tile<64> d = 0.f;
    tile<32> x = 1.f;
    packed<32> a = cast<bf16>(x);
    reg_tile<float, 64, 64> e = 0.f;
    reg_tile<fp8_e4m3, 64, 64> p8 = cast<fp8_e4m3>(e);
#if defined(TEMPORARY)
    mm_ab(d, cast<bf16>(x), s.b);
#elif defined(SUBTRACTED_TEMPORARY)
    mms_ab(d, packed<32>(a), s.b);
#elif defined(SUBTRACTED_SIZES)
    mms_ab(d, a, s.bt);
#elif defined(SUBTRACTED_TYPES)
    reg_tile<fp16, R, 32> h = cast<fp16>(x);
    mms_ab(d, h, s.b);
#elif defined(INNER_SIZES)
    mm_ab(d, s.b, s.b);
#elif defined(INNER_SIZES_BT)
    mm_abt(d, s.at, s.bt);
#elif defined(INNER_SIZES_AT)
    mm_atb(d, s.bt, s.b);
#elif defined(INNER_SIZES_ATBT)
    mm_atbt(d, s.bt, s.bt);
#elif defined(OUTER_SIZES)
    mm_ab(x, s.a, s.b);
#elif defined(MIXED_SHARED)
    mm_ab(d, s.a, s.other);
#elif defined(MIXED_REGISTER)
    reg_tile<fp16, R, 32> h = cast<fp16>(x);
    mm_ab(d, h, s.b);
#elif defined(FP32_OPERAND)
    mm_ab(d, x, s.other);
#elif defined(MIXED_SIZES)
    mm_abt(d, s.bt, s.x8);
#elif defined(FP8_AB)
    mm_ab(e, s.x8, s.y8);
#elif defined(FP8_ATB)
    mma_atb(e, s.x8, s.x8);
#elif defined(FP8_ATBT)
    mm_atbt(e, s.y8, s.x8);
#elif defined(FP8_REGISTER)
    mm_abt(e, p8, s.x8);
#elif defined(RIGHT_REGISTER)
    mm_ab(d, s.a, a);
#elif defined(LEFT_TRANSPOSED_REGISTER)
    mm_atb(d, a, s.b);
#elif defined(TOO_WIDE)
    tile<272> wide = 0.f;
    mm_ab(wide, s.a, s.other);
#elif defined(BF16_SUMS)
    packed<64> sums = cast<bf16>(d);
    mm_ab(sums, s.a, s.b);
#elif defined(NARROW_SUMS)
    tile<48> zeros = 0.f;
    reg_tile<fp16, R, 48> sums = cast<fp16>(zeros);
    mm_ab(sums, s.left, s.other);
#endif
    mm_ab(d, s.a, s.b);
    mma_ab(d, a, s.b);
    mms_ab(d, a, s.b);
    mma_abt(d, a, s.bt);
    mma_atb(d, s.at, s.b);
    mma_atbt(d, s.at, s.bt);
    mma_abt(e, s.x8, s.y8);
    wait<0>(d, e, a, p8);
  }
};

void run() { be::launch<with_operands>({}, nullptr); }

}  // namespace tk::test
