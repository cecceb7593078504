"""Models whose weights are not trained, but all away from zero."""

import sanegnn
from sanegnn.bundle import Model
from sanegnn.data.generate import planted_partition
from sanegnn.kernels import Features
from sanegnn.kernels.scaling import Scaling
from sanegnn.nets import Net
from sanegnn.space import Architecture
from sanegnn.testing.examples import filled

DATA = planted_partition(3, nodes=60, features=6)


def made(architecture, nets=2, **knobs):
    """A model of that architecture; `knobs` are its setting."""
    setting = sanegnn.Setting(**{"hidden": 8, "heads": 2, **knobs})
    parsed = Architecture.parse(architecture)
    scaling = Scaling.fit(Features.of(DATA.x), setting.scaling)
    members = [Net(parsed, setting, scaling.width, DATA.num_classes) for _ in range(nets)]
    states = [filled(net, seed).float().state_dict() for seed, net in enumerate(members)]
    for state in states:
        for name, value in state.items():
            if name.endswith("running_var"):
                value.add_(0.5)
    return Model(parsed, setting, states, scaling, DATA.classes)
