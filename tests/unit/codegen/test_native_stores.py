# SPDX-License-Identifier: Apache-2.0
"""Code for the host stores the lanes that it is asked to store, and no byte beside them."""

from ctypes import CFUNCTYPE, c_void_p

import numpy as np
import pytest
from llvmlite import binding

from atoll.codegen.llvm_machine import host_features, host_machine

LANES, MARK = 8, 0x55
PROGRAM = """
define void @store(ptr %to, ptr %from) {{
  %wide = load <8 x i32>, ptr %from, align 4
  %least = call <8 x i32> @llvm.smax.v8i32(<8 x i32> %wide, <8 x i32> splat (i32 55))
  %most = call <8 x i32> @llvm.umin.v8i32(<8 x i32> %least, <8 x i32> splat (i32 67))
  %narrow = trunc nuw nsw <8 x i32> %most to <8 x i8>
  call void @llvm.masked.store.v8i8.p0(<8 x i8> %narrow, ptr align 1 %to, <8 x i1> <{mask}>)
  ret void
}}
declare <8 x i32> @llvm.smax.v8i32(<8 x i32>, <8 x i32>)
declare <8 x i32> @llvm.umin.v8i32(<8 x i32>, <8 x i32>)
declare void @llvm.masked.store.v8i8.p0(<8 x i8>, ptr, <8 x i1>)
"""
"""The end of the last round of a loop over nine channels that requantises and clamps."""


@pytest.mark.parametrize("stored", range(1, LANES + 1))
def test_a_part_of_a_vector_is_stored_alone(stored: int) -> None:
    """With AVX-512, LLVM 22.1 zeroes three bytes behind a single lane."""
    machine = host_machine()
    mask = ", ".join(f"i1 {'true' if lane < stored else 'false'}" for lane in range(LANES))
    module = binding.parse_assembly(PROGRAM.format(mask=mask))
    engine = binding.create_mcjit_compiler(module, machine)
    engine.finalize_object()
    store = CFUNCTYPE(None, c_void_p, c_void_p)(engine.get_function_address("store"))
    values, found = np.full(LANES, 60, np.int32), np.full(2 * LANES, MARK, np.uint8)
    store(found.ctypes.data, values.ctypes.data)
    assert found.tolist() == [60] * stored + [MARK] * (2 * LANES - stored)


def test_the_host_is_used_without_avx_512() -> None:
    features = host_features().split(",")
    assert not [name for name in features if name.startswith(("+avx512", "+avx10"))]
    assert len(features) > 1
