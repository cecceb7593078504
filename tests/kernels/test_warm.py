import subprocess
import sys

import torch

from sanegnn import kernels
from sanegnn.kernels import cpu_attention, warm


def test_compile_all_fills_the_cache():
    kernels.compile_all()
    assert kernels.compiled_before()
    assert all(kernel.signatures for kernel in warm.KERNELS)


def test_every_kernel_is_listed():
    found = {
        id(value)
        for module in (
            warm.cpu_aggregate,
            warm.cpu_attention,
            warm.cpu_attention_back,
            warm.cpu_dense,
            warm.cpu_largest,
            warm.cpu_distance,
            warm.cpu_lstm,
            warm.cpu_products,
        )
        for value in vars(module).values()
        if hasattr(value, "signatures") and value.targetoptions.get("nogil")
    }
    assert found == {id(kernel) for kernel in warm.KERNELS}


def test_index_file_is_where_numba_writes_it():
    kernels.compile_all()
    assert warm.index_file(cpu_attention.forward).exists()


def test_reference_path_needs_no_compiler():
    code = "import sys, sanegnn.kernels as k; print(k.compiled_before(), 'numba' in sys.modules)"
    out = subprocess.run(
        [sys.executable, "-c", code],
        env={"SANEGNN_KERNELS": "reference"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert out.stdout.split() == ["True", "False"]


def test_gradients_of_other_types_take_the_reference():
    graph = kernels.Graph.from_edges(torch.tensor([[0], [1]]), 2)
    out = kernels.aggregate(torch.ones(2, 3, dtype=torch.bfloat16), graph, ("sum",))[0]
    assert out.dtype == torch.bfloat16
