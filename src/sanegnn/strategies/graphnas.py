"""GraphNAS: a controller emits the choices of all slots, and learns from the validation score.

    repeat: picks <- π_θ; reward R <- the validation score of that architecture, trained
            θ <- θ + Adam(∇ (R - b) log π_θ(picks) + entropy · H(π_θ)),   b <- decay b + (1 - decay) R
    at the end `finals` architectures are drawn from π_θ, and the best of them are proposed

Gao et al. draw one architecture in each of 200 epochs and ten at the end. The rewards of a batch are learned
one after the other when the batch is done, so that candidates can be trained side by side. An architecture
that is drawn again is not trained again: its score is known. The controller's learning rate is ten times
theirs, 3.5e-4, with which 200 rewards leave it where it was.

`graphnas-ws` shares weights: each part of a drawn architecture takes over what was trained last by a layer at
the same depth with the same widths and components, the activation apart. It is trained for `share_epochs`,
and its weights are kept for the next. The final candidates are trained from scratch, as a score after a
short training does not compare.
"""

from __future__ import annotations

import numpy as np

from sanegnn.seeds import derive
from sanegnn.space import Architecture, SearchSpace
from sanegnn.strategies.base import strategies
from sanegnn.strategies.candidates import DRAWS, Past
from sanegnn.strategies.controlled import Controlled, Mind, Reinforced, T, reward_of
from sanegnn.strategies.policy import Learner, Policy
from sanegnn.strategies.sharing import Shared, Sharing, Store


class Drawing(Mind):
    """A policy over all slots."""

    def __init__(self, space: SearchSpace, knobs: Reinforced, seed: int) -> None:
        super().__init__(space)
        policy = Policy((), space.slots, knobs.controller_width, derive(seed, "controller"))
        self.learner = Learner(policy, knobs.controller_lr, knobs.entropy, knobs.decay)

    def draw(self, rng: np.random.Generator) -> Architecture:
        """An architecture from the policy."""
        return self.space.decode(self.learner.draw(rng).picks)

    def learn(self, number: int, architecture: Architecture, score: float) -> None:
        """One step of REINFORCE."""
        self.learner.learn(self.space.encode(architecture), reward_of(score))


class Handing(Drawing):
    """The same, and who trained which weights last."""

    def __init__(self, space: SearchSpace, knobs: Reinforced, seed: int) -> None:
        super().__init__(space, knobs, seed)
        self.store = Store(space, knobs.hidden, frozenset({"activation"}))

    def learn(self, number: int, architecture: Architecture, score: float) -> None:
        """One step, and the weights of one candidate more."""
        super().learn(number, architecture, score)
        self.store.keep(number, architecture, score)


class Drawn(Controlled[T]):
    """What both forms do."""

    def begin(self, space: SearchSpace, seed: int) -> Drawing:
        """A controller that knows nothing."""
        return Drawing(space, self.settings, seed)

    def explore(self, mind: Drawing, past: Past, count: int) -> list[Architecture]:
        """As drawn, also again."""
        rng = past.rng
        return [mind.draw(rng) for _ in range(count)]

    def finish(self, mind: Drawing, past: Past, count: int) -> list[Architecture]:
        """As drawn, each once."""
        rng, final = past.rng, past.scored[self.first_final(past) :]
        known = {architecture for architecture, _ in final}
        drawn = dict.fromkeys(mind.draw(rng) for _ in range(DRAWS * count))
        return [architecture for architecture in drawn if architecture not in known][:count]


@strategies.add("graphnas", source="Gao, Yang, Zhang, Zhou, Hu: GraphNAS, IJCAI 2020")
class GraphNas(Drawn[Reinforced]):
    """The best of what a controller draws after 200 rewards, every candidate trained from scratch."""

    knobs = Reinforced


@strategies.add("graphnas-ws", source="Gao, Yang, Zhang, Zhou, Hu: GraphNAS, IJCAI 2020, with weight sharing")
class GraphNasWs(Sharing[Shared], Drawn[Shared]):
    """The same with rewards from short trainings on shared weights."""

    knobs = Shared

    def begin(self, space: SearchSpace, seed: int) -> Handing:
        """A controller that knows nothing, and no weights."""
        return Handing(space, self.settings, seed)

    def heirlooms(self, past: Past, architecture: Architecture) -> dict[str, int]:
        """Each part from the candidate that trained it last."""
        mind = self.mind(past)
        assert isinstance(mind, Handing)
        return mind.store.latest(architecture)
