"""The nets in plain PyTorch and PyG: source that an export copies, modules it runs.

Nothing here knows the rest of sanegnn. `exporting` tells for every operation which
class here computes the same, and tests hold the two equal. A module of `MODULES` uses
those that stand before it.
"""

MODULES = (
    *("edges", "scaling", "norms", "pooled", "propagation", "lgcn"),
    *("attention", "readout", "heads", "links", "net", "script"),
)
