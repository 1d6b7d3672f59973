// SPDX-License-Identifier: MIT
// Which of a CPU's instruction sets compiled code uses, and which of them this CPU has. Sets that
// compilers use on their own are listed; others appear in no code here. Bit i of a mask stands for
// the i-th row of the list.
//   cpu_needs          what the library's kernels were compiled for (cpu_needs.cpp)
//   cpu_features()     what this CPU and its system have
//   require_cpu(a, b)  refuses, with a sentence, where a has a set that b lacks
// The checks of a problem are compiled for every CPU of the family, cpu.cpp like them, so that the
// refusal itself runs everywhere.
#pragma once
#include <cstdint>

// Name, the compiler's macro, and where cpuid tells: leaf, subleaf, register, bit (Intel's
// Software Developer's Manual, volume 2, CPUID; AMD's Programmer's Manual, volume 3, appendix E).
#define TK_CPU_FEATURES(X)                               \
  X("sse3", __SSE3__, 1, 0, ecx, 0)                      \
  X("ssse3", __SSSE3__, 1, 0, ecx, 9)                    \
  X("fma", __FMA__, 1, 0, ecx, 12)                       \
  X("sse4.1", __SSE4_1__, 1, 0, ecx, 19)                 \
  X("sse4.2", __SSE4_2__, 1, 0, ecx, 20)                 \
  X("movbe", __MOVBE__, 1, 0, ecx, 22)                   \
  X("popcnt", __POPCNT__, 1, 0, ecx, 23)                 \
  X("avx", __AVX__, 1, 0, ecx, 28)                       \
  X("f16c", __F16C__, 1, 0, ecx, 29)                     \
  X("bmi", __BMI__, 7, 0, ebx, 3)                        \
  X("avx2", __AVX2__, 7, 0, ebx, 5)                      \
  X("bmi2", __BMI2__, 7, 0, ebx, 8)                      \
  X("avx512f", __AVX512F__, 7, 0, ebx, 16)               \
  X("avx512dq", __AVX512DQ__, 7, 0, ebx, 17)             \
  X("avx512ifma", __AVX512IFMA__, 7, 0, ebx, 21)         \
  X("avx512cd", __AVX512CD__, 7, 0, ebx, 28)             \
  X("avx512bw", __AVX512BW__, 7, 0, ebx, 30)             \
  X("avx512vl", __AVX512VL__, 7, 0, ebx, 31)             \
  X("avx512vbmi", __AVX512VBMI__, 7, 0, ecx, 1)          \
  X("avx512vbmi2", __AVX512VBMI2__, 7, 0, ecx, 6)        \
  X("gfni", __GFNI__, 7, 0, ecx, 8)                      \
  X("avx512vnni", __AVX512VNNI__, 7, 0, ecx, 11)         \
  X("avx512bitalg", __AVX512BITALG__, 7, 0, ecx, 12)     \
  X("avx512vpopcnt", __AVX512VPOPCNTDQ__, 7, 0, ecx, 14) \
  X("avx512fp16", __AVX512FP16__, 7, 0, edx, 23)         \
  X("avxvnni", __AVXVNNI__, 7, 1, eax, 4)                \
  X("avx512bf16", __AVX512BF16__, 7, 1, eax, 5)          \
  X("lzcnt", __LZCNT__, 0x80000001, 0, ecx, 5)           \
  X("sse4a", __SSE4A__, 0x80000001, 0, ecx, 6)           \
  X("xop", __XOP__, 0x80000001, 0, ecx, 11)              \
  X("fma4", __FMA4__, 0x80000001, 0, ecx, 16)            \
  X("tbm", __TBM__, 0x80000001, 0, ecx, 21)

namespace tk::be::rt {

extern std::uint64_t const cpu_needs;
std::uint64_t cpu_features();
void require_cpu(std::uint64_t needs, std::uint64_t has);

}  // namespace tk::be::rt
