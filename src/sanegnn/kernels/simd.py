"""Vectors of 16 lanes for compiled kernels: what a loop vectoriser would have to guess is written down.

A `VecType` value is an LLVM vector; LLVM lowers it to whatever registers the machine has. Lanes are float32,
float64, int32, uint32 or masks. The functions here work inside numba's `njit` code only. What they call an
array is a pointer to flat numbers, as `bare` makes it: arrays proper would be counted as references in every
inner loop. A position is counted in elements.
"""
# ruff: noqa: ANN001, ANN201, ARG001 (numba infers the types)
# mypy: disable-error-code="attr-defined, no-untyped-def, untyped-decorator, no-untyped-call, misc"

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.typing import signature
from numba.core.typing.templates import AbstractTemplate, infer_global
from numba.extending import intrinsic, lower_builtin, models, register_model

LANES = 16
CONTRACT = ("contract", "nsz")


class VecType(types.Type):
    """16 lanes of one scalar type."""

    def __init__(self, dtype: Any) -> None:
        self.dtype = dtype
        super().__init__(name=f"Vec({dtype} x {LANES})")


@register_model(VecType)
class _VecModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, _vector(kind.dtype))


def _scalar(dtype: Any) -> Any:
    if isinstance(dtype, types.Boolean):
        return ir.IntType(1)
    if isinstance(dtype, types.Integer):
        return ir.IntType(dtype.bitwidth)
    return ir.FloatType() if dtype == types.float32 else ir.DoubleType()


def _vector(dtype: Any) -> Any:
    return ir.VectorType(_scalar(dtype), LANES)


def _is_float(kind: Any) -> bool:
    return isinstance(kind.dtype, types.Float)


def _spread(builder: Any, value: Any) -> Any:
    """The scalar in every lane."""
    kind = ir.VectorType(value.type, LANES)
    one = builder.insert_element(ir.Constant(kind, ir.Undefined), value, ir.IntType(32)(0))
    zeros = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
    return builder.shuffle_vector(one, ir.Constant(kind, ir.Undefined), zeros)


def _call(builder: Any, name: str, out: Any, args: list[Any], fastmath: tuple[str, ...] = ()) -> Any:
    kind = ir.FunctionType(out, [arg.type for arg in args])
    function = cgutils.get_or_insert_function(builder.module, kind, name)
    return builder.call(function, args, fastmath=fastmath)


def _suffix(dtype: Any) -> str:
    return f"v{LANES}{'f' if isinstance(dtype, types.Float) else 'i'}{dtype.bitwidth}"


def _place(builder: Any, kind: Any, array: Any, index: Any) -> Any:
    """The address of array[index] as that of a vector."""
    return builder.bitcast(builder.gep(array, [index]), _vector(kind.dtype).as_pointer())


def _partial_mask(builder: Any, count: Any) -> Any:
    """The first `count` lanes."""
    word = ir.IntType(32)
    lanes = ir.Constant(ir.VectorType(word, LANES), list(range(LANES)))
    return builder.icmp_signed("<", lanes, _spread(builder, builder.trunc(count, word)))


@intrinsic
def bare(_typing, parts):
    """The tuple with a pointer to the numbers in place of every array; the caller keeps these alive."""
    kinds = [types.CPointer(kind.dtype) if isinstance(kind, types.Array) else kind for kind in parts]
    out = types.BaseTuple.from_types(kinds, getattr(parts, "instance_class", None))

    def code(context: Any, builder: Any, _sig: Any, args: Any) -> Any:
        values = []
        for k, kind in enumerate(parts):
            value = builder.extract_value(args[0], k)
            if isinstance(kind, types.Array):
                value = context.make_array(kind)(context, builder, value).data
            values.append(value)
        return context.make_tuple(builder, out, values)

    return out(parts), code


@intrinsic
def singles(_typing, address):
    """The float32 numbers at an address, for calls that are too short to wrap a tensor in an array."""
    kind = ir.FloatType().as_pointer()
    return types.CPointer(types.float32)(address), lambda _context, builder, _sig, args: builder.inttoptr(
        args[0], kind
    )


@intrinsic
def load(_typing, array, index):
    """array[index : index + 16]."""

    def code(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        place = _place(builder, sig.args[0], args[0], args[1])
        return builder.load(place, align=array.dtype.bitwidth // 8)

    return VecType(array.dtype)(array, types.intp), code


@intrinsic
def fetch(_typing, array, index):
    """Ask for the cache line of array[index] ahead of its use."""

    def code(_context: Any, builder: Any, _sig: Any, args: Any) -> Any:
        word = ir.IntType(32)
        place = builder.bitcast(builder.gep(args[0], [args[1]]), ir.IntType(8).as_pointer())
        kind = ir.FunctionType(ir.VoidType(), [place.type, word, word, word])
        function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        builder.call(function, [place, word(0), word(2), word(1)])
        return _context.get_dummy_value()

    return types.void(array, types.intp), code


@intrinsic
def store(_typing, array, index, value):
    """array[index : index + 16] = value."""

    def code(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        place = _place(builder, sig.args[0], args[0], args[1])
        builder.store(args[2], place, align=array.dtype.bitwidth // 8)
        return context.get_dummy_value()

    return types.void(array, types.intp, VecType(array.dtype)), code


@intrinsic
def load_part(_typing, array, index, count):
    """array[index : index + count] and zeros behind."""

    def code(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        kind, align = _vector(array.dtype), ir.IntType(32)(array.dtype.bitwidth // 8)
        place = _place(builder, sig.args[0], args[0], args[1])
        mask = _partial_mask(builder, args[2])
        name = f"llvm.masked.load.{_suffix(array.dtype)}.p0"
        return _call(builder, name, kind, [place, align, mask, ir.Constant(kind, None)])

    return VecType(array.dtype)(array, types.intp, types.intp), code


@intrinsic
def store_part(_typing, array, index, value, count):
    """array[index : index + count] = the first lanes of value."""

    def code(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        align = ir.IntType(32)(array.dtype.bitwidth // 8)
        place = _place(builder, sig.args[0], args[0], args[1])
        mask = _partial_mask(builder, args[3])
        name = f"llvm.masked.store.{_suffix(array.dtype)}.p0"
        _call(builder, name, ir.VoidType(), [args[2], place, align, mask])
        return context.get_dummy_value()

    return types.void(array, types.intp, VecType(array.dtype), types.intp), code


@intrinsic
def splat(_typing, value):
    """The scalar in every lane."""
    return VecType(value)(value), lambda _context, builder, _sig, args: _spread(builder, args[0])


@intrinsic
def zeros(_typing, array):
    """Zero in every lane, of the type of the array."""
    return VecType(array.dtype)(array), lambda *_: ir.Constant(_vector(array.dtype), None)


@intrinsic
def like(_typing, vector, value):
    """The scalar, cast to the type of the vector, in every lane."""

    def code(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return _spread(builder, context.cast(builder, args[1], sig.args[1], vector.dtype))

    return vector(vector, value), code


@intrinsic
def fma(_typing, a, b, c):
    """a b + c."""

    def code(_context: Any, builder: Any, _sig: Any, args: Any) -> Any:
        return _call(builder, f"llvm.fmuladd.{_suffix(a.dtype)}", args[0].type, list(args))

    return a(a, a, a), code


@intrinsic
def total(_typing, a):
    """The sum of the lanes, always in the same order."""

    def code(_context: Any, builder: Any, _sig: Any, args: Any) -> Any:
        zero = ir.Constant(_scalar(a.dtype), 0.0)
        name = f"llvm.vector.reduce.fadd.{_suffix(a.dtype)}"
        return _call(builder, name, zero.type, [zero, args[0]], fastmath=("reassoc", "nsz"))

    return a.dtype(a), code


@intrinsic
def select(_typing, mask, a, b):
    """The lanes of a where the mask says so, else those of b."""
    return a(mask, a, a), lambda _context, builder, _sig, args: builder.select(*args)


@intrinsic
def lane_numbers(_typing, start):
    """The vector start, start + 1, … as uint32."""

    def code(_context: Any, builder: Any, _sig: Any, args: Any) -> Any:
        word = ir.IntType(32)
        lanes = ir.Constant(ir.VectorType(word, LANES), list(range(LANES)))
        return builder.add(_spread(builder, builder.trunc(args[0], word)), lanes)

    return VecType(types.uint32)(types.int64), code


@intrinsic
def add_exponent(_typing, y, n):
    """Y times 2^k, where k lies in the lowest bits of the representation of n."""

    def code(_context: Any, builder: Any, _sig: Any, args: Any) -> Any:
        width = y.dtype.bitwidth
        kind = ir.VectorType(ir.IntType(width), LANES)
        shift = ir.Constant(kind, [23 if width == 32 else 52] * LANES)
        bits = builder.shl(builder.bitcast(args[1], kind), shift)
        return builder.bitcast(builder.add(builder.bitcast(args[0], kind), bits), args[0].type)

    return y(y, y), code


def _arithmetic(on_float: str, on_integer: str) -> Any:
    """The instruction for two vectors of a type."""

    def emit(builder: Any, kind: Any, a: Any, b: Any) -> Any:
        if _is_float(kind):
            return getattr(builder, on_float)(a, b, flags=CONTRACT)
        return getattr(builder, on_integer)(a, b)

    return emit


def _comparison(sign: str) -> Any:
    """The instruction that compares two vectors of a type; false for NaN."""

    def emit(builder: Any, kind: Any, a: Any, b: Any) -> Any:
        return (builder.fcmp_ordered if _is_float(kind) else builder.icmp_unsigned)(sign, a, b)

    return emit


def _give_operator(symbol: Callable[..., Any], emit: Any, compares: bool) -> None:
    """Let the operator work on two vectors, and on a vector and a number.

    Typed and lowered directly: an overload would be compiled as a function for every use.
    """

    @infer_global(symbol)
    class _Template(AbstractTemplate):
        key = symbol

        def generic(self, args: Any, kws: Any) -> Any:
            vectors = [kind for kind in args if isinstance(kind, VecType)]
            if len(args) != 2 or not vectors or vectors[0] != vectors[-1]:
                return None
            if any(not isinstance(kind, VecType | types.Number) for kind in args):
                return None
            return signature(VecType(types.boolean) if compares else vectors[0], *args)

    def lower(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        kind = next(arg for arg in sig.args if isinstance(arg, VecType))
        vectors = [
            value if arg == kind else _spread(builder, context.cast(builder, value, arg, kind.dtype))
            for arg, value in zip(sig.args, args, strict=True)
        ]
        return emit(builder, kind, *vectors)

    for kinds in ((VecType, VecType), (VecType, types.Number), (types.Number, VecType)):
        lower_builtin(symbol, *kinds)(lower)


for _symbol, _float, _integer in (
    (operator.add, "fadd", "add"),
    (operator.sub, "fsub", "sub"),
    (operator.mul, "fmul", "mul"),
    (operator.truediv, "fdiv", "udiv"),
    (operator.xor, "", "xor"),
    (operator.rshift, "", "lshr"),
):
    _give_operator(_symbol, _arithmetic(_float, _integer), compares=False)
for _symbol, _sign in ((operator.gt, ">"), (operator.lt, "<"), (operator.ge, ">="), (operator.eq, "==")):
    _give_operator(_symbol, _comparison(_sign), compares=True)
