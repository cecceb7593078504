"""Counter-based random numbers: a hash of (key, index), the same in torch and in compiled code.

The hash is two multiply-xorshift rounds over 32 bits with one word of the key before each, after the search
for low-bias mixers by Wellons (2018, https://nullprogram.com/blog/2018/07/31/). Torch has no unsigned 32-bit
product, so the reference computes in int64, whose overflow leaves the low 32 bits right.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor

if TYPE_CHECKING:
    from sanegnn.seeds import Noise

WORD = 0xFFFFFFFF
FIRST, SECOND = 0x7FEB352D, 0x846CA68B


def words(noise: Noise) -> tuple[int, int]:
    """The two 32-bit words of the key."""
    return noise.key & WORD, (noise.key >> 32) & WORD


def threshold(rate: float) -> int:
    """The hashes below it are dropped."""
    return min(int(rate * 2**32), WORD)


def hashes(noise: Noise, n: int, device: torch.device) -> Tensor:
    """The hash of (key, 0), …, (key, n - 1), (n,) int64 with values below 2^32; indices count modulo 2^32."""
    low, high = words(noise)
    x = (torch.arange(n, device=device) & WORD) ^ low
    x = ((x ^ (x >> 16)) * FIRST) & WORD
    x = ((x ^ (x >> 15)) + high) & WORD
    x = (x * SECOND) & WORD
    return x ^ (x >> 16)


def keep_mask(noise: Noise, n: int, rate: float, device: torch.device) -> Tensor:
    """True with probability 1 - rate, (n,)."""
    return hashes(noise, n, device) >= threshold(rate)
