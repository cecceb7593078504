"""What every operation promises: node aggregators, layer aggregators, skips."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields

import torch
from torch import Tensor

from sanegnn.kernels import Graph
from sanegnn.nets import Supernet, inherit
from sanegnn.nets.fused import mixture_of
from sanegnn.ops import Carrying, LayerAggregator, NodeAggregator, Shape, layer_ops, node_ops, skip_ops
from sanegnn.seeds import Noise, generator
from sanegnn.settings import Setting
from sanegnn.space import Architecture, SearchSpace
from sanegnn.testing.examples import (
    DEPTH,
    NODES,
    WIDTH,
    close,
    example_edges,
    example_graph,
    example_inputs,
    filled,
    numbers,
    require,
    shape,
)

BuildNode = Callable[[Shape], NodeAggregator]
BuildLayer = Callable[[Shape], LayerAggregator]


def check_node_aggregator(op: str | type[NodeAggregator]) -> None:
    """Every promise of a node aggregator; by its name also those of the supernet around it.

    An operation with a width of its own stands in no supernet.
    """
    build = node_ops[op] if isinstance(op, str) else op
    for contract in NODE_CONTRACTS:
        contract(build)
    if build.own_width is not None:
        return
    fuses_to_the_same(build)
    if isinstance(op, str) and not issubclass(build, Carrying):
        one_hot_equals_derived(SearchSpace("contract", 2, (op, "gcn"), ("skip", "zero"), ("concat",)))


def keeps_its_shape(build: BuildNode) -> None:
    """States of width D become states of width D, or of the operation's own, in the type they came in."""
    x = numbers(NODES, WIDTH)
    for heads in (1, 2, 4):
        for kind in (torch.float32, torch.float64):
            op = filled(build(shape(heads))).to(kind)
            out = op(x.to(kind), example_graph())
            told = f"{heads} heads: {tuple(x.shape)} became {tuple(out.shape)}"
            require(out.shape == (NODES, op.own_width or WIDTH), told)
            require(out.dtype == kind, f"{heads} heads: {kind} became {out.dtype}")


def predicts_without_chance(build: BuildNode) -> None:
    """Without noise two calls agree to the bit, and torch's global stream is not touched."""
    before = torch.get_rng_state()
    op, x, graph = filled(build(shape())), numbers(NODES, WIDTH), example_graph()
    require(torch.equal(op(x, graph), op(x, graph)), "two predictions differ: take randomness from noise")
    again = op(x, graph, Noise(3)), op(x, graph, Noise(3))
    require(torch.equal(*again), "the same noise gave two outputs: take all randomness from it")
    require(
        torch.equal(before, torch.get_rng_state()), "the global random state was used: take it from noise"
    )


def permutes_with_its_nodes(build: BuildNode) -> None:
    """The numbers of the nodes carry no meaning."""
    op, x, edges = filled(build(shape())), numbers(NODES, WIDTH), example_edges()
    order = torch.from_numpy(generator(0, "contract", "order").permutation(NODES))
    place = torch.argsort(order)
    moved = op(x[order], Graph.from_edges(place[edges], NODES))
    straight = op(x, Graph.from_edges(edges, NODES))[order]
    require(close(moved, straight), "permuting the nodes does not just permute the output")


def hears_its_in_neighbours_alone(build: BuildNode) -> None:
    """A message flows along an edge, from the source to the target, and no further than `hops` edges."""
    op, x, edges = filled(build(shape())), numbers(NODES, WIDTH), example_edges()
    graph = Graph.from_edges(edges, NODES)
    still = op(x, graph)
    for node in range(NODES):
        pushed = x.clone()
        pushed[node] += 1.0
        reached = _reached(node, edges, op.hops)
        changed = (op(pushed, graph) - still).abs().amax(1) > 1e-12
        strangers = {int(v) for v in torch.nonzero(changed)} - reached
        require(not strangers, f"node {node} changed {sorted(strangers)}, to which it has no edge")


def _reached(node: int, edges: Tensor, hops: int) -> set[int]:
    """The nodes to which a message comes in so many steps."""
    reached = {node}
    for _ in range(hops):
        reached |= {target for source, target in edges.T.tolist() if source in reached}
    return reached


def stands_isolated_nodes(build: BuildNode) -> None:
    """A node without neighbours gets finite states and gradients; so does a graph without edges."""
    for edges in (example_edges(), example_edges()[:, :0]):
        x = numbers(NODES, WIDTH).requires_grad_()
        op = filled(build(shape()))
        out = op(x, Graph.from_edges(edges, NODES))
        out.square().sum().backward()
        require(bool(out.isfinite().all()), "a node without neighbours has an output that is not finite")
        slopes = [x.grad, *(parameter.grad for parameter in op.parameters())]
        sound = all(slope is None or bool(slope.isfinite().all()) for slope in slopes)
        require(sound, "a node without neighbours gives a gradient that is not finite")


def learns_with_all_its_weights(build: BuildNode) -> None:
    """Every weight, and the input, reaches the output."""
    op, x = filled(build(shape())), numbers(NODES, WIDTH).requires_grad_()
    op(x, example_graph()).square().sum().backward()
    idle = [name for name, weight in op.named_parameters() if weight.grad is None or not weight.grad.any()]
    require(not idle, f"these weights have no gradient: {', '.join(idle)}")
    require(x.grad is not None and bool(x.grad.any()), "the input has no gradient")


def fuses_to_the_same(build: BuildNode) -> None:
    """Beside the built-in operations in a mixed layer, it gives what it gives alone, and its gradient."""
    for heads in (1, 2, 4):
        makers: list[BuildNode] = [build, *(node_ops[name] for name in ("sage_max", "gat", "gin")), build]
        ops = [filled(make(shape(heads)), seed) for seed, make in enumerate(makers)]
        fused_equals_plain(ops)


def fused_equals_plain(ops: Sequence[NodeAggregator], within: float = 1e-9) -> None:
    """The fused path of a mixed layer and the plain loop agree, forward and backward."""
    weights = [parameter for op in ops for parameter in op.parameters()]
    kind = weights[0].dtype
    graph, push = example_graph(), numbers(len(ops), NODES, WIDTH).to(kind)

    def both(run: Callable[[Tensor], Tensor]) -> tuple[Tensor, ...]:
        x = numbers(NODES, WIDTH).to(kind).requires_grad_()
        out = run(x)
        slopes = torch.autograd.grad((out * push).sum(), [x, *weights], allow_unused=True)
        return out, *(torch.zeros(()) if slope is None else slope for slope in slopes)

    rows = torch.eye(len(ops), dtype=kind).unbind()
    fused = both(lambda x: torch.stack([mixture_of(ops, row, x, graph, None) for row in rows]))
    plain = both(lambda x: torch.stack([op(x, graph) for op in ops]))
    names = [
        "output",
        "gradient of x",
        *(f"gradient {name}" for op in ops for name, _ in op.named_parameters()),
    ]
    for name, one, other in zip(names, fused, plain, strict=True):
        require(close(one, other, within), f"fused and plain path differ in the {name}")


def names_its_knobs(build: BuildNode) -> None:
    """`knobs` are fields of `Setting`."""
    own = set(build(shape()).knobs)
    strange = own - {field.name for field in fields(Setting)}
    require(not strange, f"{', '.join(sorted(strange))}: no such field of Setting")


NODE_CONTRACTS: tuple[Callable[[BuildNode], None], ...] = (
    keeps_its_shape,
    stands_isolated_nodes,
    predicts_without_chance,
    permutes_with_its_nodes,
    hears_its_in_neighbours_alone,
    learns_with_all_its_weights,
    names_its_knobs,
)


def check_layer_aggregator(op: str | type[LayerAggregator]) -> None:
    """Every promise of a layer aggregator; by its name also those of the supernet around it."""
    build = layer_ops[op] if isinstance(op, str) else op
    for contract in LAYER_CONTRACTS:
        contract(build)
    if isinstance(op, str):
        one_hot_equals_derived(SearchSpace("contract", DEPTH, ("gcn", "gat"), ("skip", "zero"), (op, "max")))


def reads_states_to_width(build: BuildLayer) -> None:
    """(K, N, D) becomes (N, D), for every K."""
    for depth in range(1, 7):
        op = filled(build(Shape(WIDTH, 1, 0.0, depth)))
        out = op(numbers(depth, NODES, WIDTH))
        require(out.shape == (NODES, WIDTH), f"{depth} states became {tuple(out.shape)}")


def reads_each_node_alone(build: BuildLayer) -> None:
    """An embedding depends on the states of its own node, whatever its number."""
    op, states = filled(build(shape())), numbers(DEPTH, NODES, WIDTH)
    order = torch.from_numpy(generator(0, "contract", "order").permutation(NODES))
    require(close(op(states[:, order]), op(states)[order]), "permuting the nodes does not just permute z")
    require(close(op(states[:, :5]), op(states)[:5]), "an embedding depends on the states of other nodes")


def stands_zeroed_states(build: BuildLayer) -> None:
    """All skips may be zero: the embedding and the gradients stay finite."""
    op, states = filled(build(shape())), torch.zeros(DEPTH, NODES, WIDTH, dtype=torch.float64)
    out = op(states.requires_grad_())
    out.square().sum().backward()
    require(bool(out.isfinite().all()), "states of zeros give an embedding that is not finite")
    sound = states.grad is not None and bool(states.grad.isfinite().all())
    require(sound, "states of zeros give a gradient that is not finite")


def reaches_every_state(build: BuildLayer) -> None:
    """Every one of the K states can learn."""
    states = numbers(DEPTH, NODES, WIDTH).requires_grad_()
    filled(build(shape()))(states).square().sum().backward()
    idle = [k + 1 for k in range(DEPTH) if states.grad is None or not states.grad[k].any()]
    require(not idle, f"the states of layers {idle} have no gradient")


LAYER_CONTRACTS: tuple[Callable[[BuildLayer], None], ...] = (
    reads_states_to_width,
    reads_each_node_alone,
    stands_zeroed_states,
    reaches_every_state,
)


def check_skip(name: str) -> None:
    """A skip keeps shape and type, and carries no weight."""
    state = numbers(NODES, WIDTH)
    out = skip_ops[name](state)
    require(
        out.shape == state.shape and out.dtype == state.dtype, f"{name} changes the state's shape or type"
    )
    require(bool(out.isfinite().all()), f"{name} gives a state that is not finite")
    one_hot_equals_derived(SearchSpace("contract", 2, ("gcn",), (name, "skip"), ("max", "concat")))


def one_hot_equals_derived(
    searched: SearchSpace, members: Iterable[Architecture] | None = None, setting: Setting | None = None
) -> None:
    """The supernet with one-hot rows, and on a path, equals the derived net with the same weights."""
    inputs = example_inputs(whole=bool(searched.pool_ops))
    supernet: Supernet = filled(Supernet(searched, setting or Setting(hidden=WIDTH, heads=2), 5, 3)).eval()
    for architecture in searched if members is None else members:
        path = searched.encode(architecture)
        rows = {
            slot.key: torch.eye(len(slot.choices), dtype=torch.float64)[path[slot.key]]
            for slot in searched.slots
        }
        derived = inherit(supernet, architecture).eval()(inputs)
        require(close(supernet(inputs, rows), derived), f"one-hot rows differ from the net of {architecture}")
        require(close(supernet(inputs, path), derived), f"the path differs from the net of {architecture}")
