"""The layers of PyG that kernels are compared with; its import warns about other things."""

import warnings

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from torch_geometric.nn import GATConv, GCNConv, JumpingKnowledge, SAGEConv
    from torch_geometric.nn.conv.gcn_conv import gcn_norm

__all__ = ["GATConv", "GCNConv", "JumpingKnowledge", "SAGEConv", "gcn_norm"]
