import pytest

from sanegnn.space import Architecture, Recipe

MAX = Recipe((("sage_max",),))
THEN = Recipe((("sage_max",), ("gcn", "gin")))
THREE = Recipe((("gcn", "gat"),) * 3)


@pytest.mark.parametrize(
    ("text", "recipe", "held"),
    [
        ("sage_max,gcn,gcn | skip,zero,zero | concat", MAX, True),
        ("sage_max,gcn,gcn | zero,skip,skip | concat", MAX, False),  # GCN blurs what is handed on
        ("sage_max,sage_mean,gcn | zero,skip,zero | concat", MAX, True),
        ("gcn,sage_max,gcn | skip,skip,skip | concat", MAX, False),  # GCN blurs what comes in
        ("sage_sum,sage_max,gcn | zero,skip,zero | max", MAX, True),
        ("sage_sum,sage_max,gcn | skip,zero,skip | max", MAX, False),
        ("gcn,gcn,sage_max | skip,skip,skip | lstm", MAX, False),
        ("sage_max,sage_max,gcn | zero,skip,zero | concat", MAX, True),
        ("sage_max,gcn,gat | zero,skip,zero | concat", THEN, True),
        ("gcn,sage_max,gat | skip,skip,skip | concat", THEN, False),
        ("sage_max,sage_sum,gin | skip,skip,skip | concat", THEN, True),
        ("sage_max,gat,gin | skip,skip,skip | concat", THEN, False),
        ("gcn,gat,gcn | zero,zero,skip | concat", THREE, True),
        ("gcn,gat,gcn | skip,skip,zero | concat", THREE, False),
        ("gcn,gat,gcn", THREE, True),
        ("gcn,gat", THREE, False),
        ("sage_max,gcn", MAX, False),  # a plain stack ends with its last layer
        ("sage_max,sage_mean", MAX, True),
        ("sage_max,sage_mean | zero,zero | concat", MAX, False),
    ],
)
def test_the_steps_are_found(text, recipe, held):
    assert (Architecture.parse(text) in recipe) == held
