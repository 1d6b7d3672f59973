# SPDX-License-Identifier: MIT
# Its scans are those of linear_attention.cmake.
