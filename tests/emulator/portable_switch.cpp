// SPDX-License-Identifier: MIT
// The tests of lanes once more, with the switch of stacks that CPUs without one of their own use.
#define TK_EMULATOR_UCONTEXT 1
#include "tests/emulator/lanes.cpp"
