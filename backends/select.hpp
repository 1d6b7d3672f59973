// SPDX-License-Identifier: MIT
// The one file that chooses a backend. CMake defines one TK_ARCH_* and, for a library whose device
// code runs on the CPU lane by lane, TK_EMULATE. TK_BACKEND(file) names the chosen backend's file;
// TK_CHIP(file) one of those in which chips of a backend differ (arch.hpp, tune/<op>.hpp);
// TK_VENDOR(file) one of those that the emulator replaces (intrinsics.hpp, runtime.hpp).
#pragma once

#define TK_QUOTE_AS_IS(x) #x
#define TK_QUOTE(x) TK_QUOTE_AS_IS(x)

#if defined(TK_ARCH_SM_90A)
#define TK_BACKEND_NAME sm_90
#elif defined(TK_ARCH_SM_89)
#define TK_BACKEND_NAME sm_80
#define TK_CHIP_NAME sm_89
#elif defined(TK_ARCH_SM_86)
#define TK_BACKEND_NAME sm_80
#define TK_CHIP_NAME sm_86
#elif defined(TK_ARCH_SM_80)
#define TK_BACKEND_NAME sm_80
#elif defined(TK_ARCH_GFX90A)
#define TK_BACKEND_NAME hip
#define TK_CHIP_NAME gfx90a
#elif defined(TK_ARCH_GFX942)
#define TK_BACKEND_NAME hip
#define TK_CHIP_NAME gfx942
#elif defined(TK_ARCH_GFX950)
#define TK_BACKEND_NAME hip
#define TK_CHIP_NAME gfx950
#else
#define TK_BACKEND_NAME host
#endif
#if !defined(TK_CHIP_NAME)
#define TK_CHIP_NAME TK_BACKEND_NAME
#endif

#define TK_BACKEND(file) TK_QUOTE(backends/TK_BACKEND_NAME/file)
#define TK_CHIP(file) TK_QUOTE(backends/TK_CHIP_NAME/file)
#if defined(TK_EMULATE)
#define TK_VENDOR(file) TK_QUOTE(backends/emulator/TK_BACKEND_NAME/file)
#else
#define TK_VENDOR(file) TK_BACKEND(file)
#endif
