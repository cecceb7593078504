"""Why a node was predicted so, and what each operation of a design is worth."""

from sanegnn.explaining.design import Design, Replaced, explain_design
from sanegnn.explaining.node import Explanation, explain_node

__all__ = ["Design", "Explanation", "Replaced", "explain_design", "explain_node"]
