"""SANE's Algorithm 1: alphas descend the validation loss, weights the training loss, in turn.

    repeat T times
        alpha <- Adam(∇_α L_val(w - ξ ∇_w L_tra(w, α), α))       Eq. 8
        w     <- Adam(∇_w L_tra(w, α))
    derive the strongest operation of every slot

With probability `epsilon` an epoch explores instead: it draws one operation for every slot and trains
the weights of that path alone. At epsilon = 1 no alpha ever moves, and the search is random search with
weight sharing: paths are drawn and the best by the supernet's validation score are returned.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from sanegnn.settings import Within, knob
from sanegnn.strategies.base import strategies
from sanegnn.strategies.course import Course
from sanegnn.strategies.oneshot import OneSupernet, SupernetKnobs


@dataclass(frozen=True)
class Algorithm1(SupernetKnobs):
    """The knobs of Algorithm 1; the defaults are the paper's."""

    alpha_lr: Annotated[float, knob("Adam's learning rate for alpha"), Within(1e-7, 10)] = 3e-4
    alpha_weight_decay: Annotated[float, knob("L2 penalty on alpha"), Within(0, 1)] = 1e-3
    xi: Annotated[float, knob("inner step of Eq. 8; 0 is first order"), Within(0, 10)] = 0.0
    epsilon: Annotated[float, knob("share of epochs that explore a random path"), Within(0, 1)] = 0.0


@strategies.add("paper", source="Zhao, Yao, Tu: SANE, ICDE 2021, Algorithm 1")
class Paper(OneSupernet[Algorithm1]):
    """The paper's search, unchanged."""

    knobs = Algorithm1
    course = Course
