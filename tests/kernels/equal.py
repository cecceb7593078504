"""Compare the two paths of a kernel, forward and gradient."""

from collections.abc import Callable

import torch
from torch import Tensor

from sanegnn import kernels

TOLERANCE = {torch.float64: 1e-12, torch.float32: 2e-5}


def outputs_and_gradients(function: Callable[..., Tensor], inputs: list[Tensor], path: str) -> list[Tensor]:
    with kernels.use(path):
        leaves = [x.clone().requires_grad_() for x in inputs]
        out = function(*leaves)
        seed = torch.Generator().manual_seed(7)
        out.backward(torch.randn(out.shape, dtype=torch.float64, generator=seed).to(out.dtype))
    return [out.detach()] + [torch.zeros_like(x) if x.grad is None else x.grad for x in leaves]


def assert_paths_agree(function: Callable[..., Tensor], inputs: list[Tensor]) -> None:
    ours = outputs_and_gradients(function, inputs, "compiled")
    truth = outputs_and_gradients(function, inputs, "reference")
    tolerance = TOLERANCE[inputs[0].dtype]
    for mine, its in zip(ours, truth, strict=True):
        scale = max(1.0, float(its.abs().max())) if its.numel() else 1.0
        torch.testing.assert_close(mine, its, rtol=0.0, atol=tolerance * scale)
