# SPDX-License-Identifier: MIT
"""What cuBLASLt has for an older chip, on a newer card: the peer of a library built for sm_80.

PyTorch gets kernels of the card's own kind from cuBLAS, which use instructions that an sm_80 library
must do without. cuBLASLt also holds the kernels it made for compute capability 8.0 and runs them
where they are asked for: they are one algorithm, of many tiles, numbers of stages and orders of
blocks, of which the fastest for a problem is the peer. The calls are those of cublasLt.h, in the
copy that PyTorch has loaded.
"""
import ctypes
import itertools
import math
import statistics

import torch

CUDA_R_32F, CUBLAS_COMPUTE_32F = 0, 68
TYPES = {torch.float16: 2, torch.bfloat16: 14}  # CUDA_R_16F, CUDA_R_16BF
TRANSA, TRANSB = 3, 4  # cublasLtMatmulDescAttributes_t
TILE, SWIZZLE, STAGES = 1, 4, 6  # cublasLtMatmulAlgoConfigAttributes_t
TILES, STAGE_COUNTS = 6, 13  # cublasLtMatmulAlgoCapAttributes_t
MMA_16816 = 21  # number of the algorithm: mma.m16n8k16 of compute capability 8.0
WORKSPACE = 32 << 20
FEW, ROUNDS = 8, 9


class algorithm(ctypes.Structure):
    _fields_ = [("data", ctypes.c_uint64 * 8)]


class heuristic_result(ctypes.Structure):
    _fields_ = [("algo", algorithm), ("workspace", ctypes.c_size_t), ("state", ctypes.c_int),
                ("waves", ctypes.c_float), ("reserved", ctypes.c_int * 4)]


def loaded_library():
    with open("/proc/self/maps", encoding="utf-8") as maps:
        paths = {line.split()[-1] for line in maps if "libcublasLt.so" in line}
    if not paths:
        raise RuntimeError("PyTorch has not loaded cuBLASLt")
    return ctypes.CDLL(sorted(paths)[0])


def check(code):
    if code:
        raise RuntimeError(f"cuBLASLt: status {code}")


class gemm:
    """d = op(a) op(b) for contiguous a, b and d of one 16-bit type: call() enqueues it."""

    def __init__(self, a, b, d, transpose_a, transpose_b):
        self.lib = lib = loaded_library()
        self.pointers = [ctypes.c_void_p(x.data_ptr()) for x in (b, a, d)]
        self.space = torch.empty(WORKSPACE, dtype=torch.uint8, device=d.device)
        self.keep = a, b, d
        kind = TYPES[d.dtype]
        self.handle, self.form = ctypes.c_void_p(), ctypes.c_void_p()
        check(lib.cublasLtCreate(ctypes.byref(self.handle)))
        check(lib.cublasLtMatmulDescCreate(ctypes.byref(self.form), CUBLAS_COMPUTE_32F, CUDA_R_32F))
        # columns first, to cuBLAS: d^T = op(b)^T op(a)^T
        for attribute, transpose in ((TRANSA, transpose_b), (TRANSB, transpose_a)):
            self.set(lib.cublasLtMatmulDescSetAttribute, self.form, attribute, int(transpose))
        self.layouts = []
        for x in (b, a, d):
            self.layouts.append(ctypes.c_void_p())
            check(lib.cublasLtMatrixLayoutCreate(
                ctypes.byref(self.layouts[-1]), kind, ctypes.c_uint64(x.shape[1]),
                ctypes.c_uint64(x.shape[0]), ctypes.c_int64(x.shape[1])))
        self.algo = self.fastest(kind)

    @staticmethod
    def set(function, target, attribute, value):
        check(function(target, attribute, ctypes.byref(ctypes.c_int(value)), ctypes.c_size_t(4)))

    def numbers(self, algo, what):
        found, size = (ctypes.c_int * 1024)(), ctypes.c_size_t()
        check(self.lib.cublasLtMatmulAlgoCapGetAttribute(
            ctypes.byref(algo), what, found, ctypes.c_size_t(ctypes.sizeof(found)),
            ctypes.byref(size)))
        return found[:size.value // 4]

    def enqueue(self, algo):
        one, zero = ctypes.c_float(1), ctypes.c_float(0)
        b, a, d = self.pointers
        of_b, of_a, of_d = self.layouts
        return self.lib.cublasLtMatmul(
            self.handle, self.form, ctypes.byref(one), b, of_b, a, of_a, ctypes.byref(zero), d, of_d,
            d, of_d, ctypes.byref(algo), ctypes.c_void_p(self.space.data_ptr()),
            ctypes.c_size_t(WORKSPACE), ctypes.c_void_p(torch.cuda.current_stream().cuda_stream))

    def configurations(self, kind):
        base = algorithm()
        check(self.lib.cublasLtMatmulAlgoInit(self.handle, CUBLAS_COMPUTE_32F, CUDA_R_32F, kind, kind,
                                              kind, kind, MMA_16816, ctypes.byref(base)))
        configure = self.lib.cublasLtMatmulAlgoConfigSetAttribute
        of_b, of_a, of_d = self.layouts
        for tile, stages, swizzle in itertools.product(
                self.numbers(base, TILES), self.numbers(base, STAGE_COUNTS), (0, 1)):
            algo, result = algorithm.from_buffer_copy(base), heuristic_result()
            for attribute, value in ((TILE, tile), (STAGES, stages), (SWIZZLE, swizzle)):
                self.set(configure, ctypes.byref(algo), attribute, value)
            fits = self.lib.cublasLtMatmulAlgoCheck(
                self.handle, self.form, of_b, of_a, of_d, of_d, ctypes.byref(algo),
                ctypes.byref(result)) == 0
            if fits and result.workspace <= WORKSPACE:
                yield algo

    def time(self, algo):
        """One call in ms, behind an overwritten cache."""
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        self.flush.zero_()
        start.record()
        code = self.enqueue(algo)
        end.record()
        end.synchronize()
        return math.inf if code else start.elapsed_time(end)

    def fastest(self, kind):
        """Of all configurations, those fastest in a few calls (the first one loads a kernel) take
        turns, and the least median is found."""
        self.flush = torch.empty(256 << 20, dtype=torch.uint8, device=self.space.device)
        tried = [(min(self.time(algo) for _ in range(3)), n, algo)
                 for n, algo in enumerate(self.configurations(kind))]
        few = [algo for ms, _, algo in sorted(tried)[:FEW] if ms < math.inf]
        if not few:
            raise RuntimeError("cuBLASLt has no kernel of compute capability 8.0 for this")
        rounds = [[self.time(algo) for algo in few] for _ in range(ROUNDS)]
        del self.flush
        medians = [statistics.median(ms) for ms in zip(*rounds)]
        return few[medians.index(min(medians))]

    def call(self):
        check(self.enqueue(self.algo))
