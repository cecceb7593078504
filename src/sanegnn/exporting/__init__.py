"""A trained model outside of sanegnn: as source on PyTorch and PyG, as ONNX, as a program of torch.export.

`forms` tells which class of `sanegnn.plain` computes the same as an operation; `design` makes one
description of the whole model, from which the source is written and which the other formats trace.
"""

from sanegnn.exporting import code, exchange
from sanegnn.exporting.base import Export, formats, write
from sanegnn.exporting.design import plain
from sanegnn.exporting.forms import form

__all__ = ["Export", "code", "exchange", "form", "formats", "plain", "write"]
