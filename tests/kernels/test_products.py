import pytest
import torch

from sanegnn.kernels import products
from sanegnn.kernels.cpu_products import tall_outer, tall_product
from sanegnn.kernels.products import outer, product

SHAPES = [(1, 1, 1), (9, 5, 7), (16, 32, 32), (21, 48, 33), (300, 3, 70), (8, 17, 16), (0, 4, 5), (5, 0, 3)]


def matrix(rows: int, columns: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(rows, columns, generator=torch.Generator().manual_seed(seed))


@pytest.mark.parametrize(("rows", "inner", "width"), SHAPES)
def test_tall_products(rows, inner, width):
    a, b, bias, plus = (
        matrix(rows, inner),
        matrix(inner, width, 1),
        matrix(1, width, 2)[0],
        matrix(rows, width, 3),
    )
    torch.testing.assert_close(tall_product(a, b, None, None), a @ b)
    torch.testing.assert_close(tall_product(a, b, bias, None), a @ b + bias)
    torch.testing.assert_close(tall_product(a, b, None, plus), a @ b + plus)
    torch.testing.assert_close(tall_outer(a, plus), a.T @ plus, atol=1e-4, rtol=1e-5)


def test_what_is_not_laid_out_by_rows():
    a, b = matrix(40, 90).T, matrix(11, 40, 1).T
    torch.testing.assert_close(tall_product(a, b, None, None), a @ b)
    torch.testing.assert_close(tall_outer(a.T, b), a @ b)


@pytest.mark.parametrize("tiled", [True, False])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_every_way_gives_the_same(monkeypatch, tiled, dtype):
    monkeypatch.setattr(products, "_TILES", tiled)
    a, b, bias, plus = (matrix(*size).to(dtype) for size in ((20, 200), (200, 99), (1, 99), (20, 99)))
    torch.testing.assert_close(product(a, b, bias[0], plus), a @ b + bias + plus, atol=1e-4, rtol=1e-5)
    torch.testing.assert_close(product(a, b[:, :9], None, plus[:, :9]), a @ b[:, :9] + plus[:, :9])
    torch.testing.assert_close(outer(a, plus), a.T @ plus)


def test_products_do_not_depend_on_the_number_of_threads():
    a, b, c = matrix(3000, 24), matrix(24, 70, 1), matrix(3000, 70, 2)
    before, outs = torch.get_num_threads(), []
    try:
        for threads in (1, 2, 3):
            torch.set_num_threads(threads)
            outs.append((tall_product(a, b, None, c), tall_outer(a, c)))
    finally:
        torch.set_num_threads(before)
    assert all(torch.equal(one, other) for pair in outs[1:] for one, other in zip(outs[0], pair, strict=True))
