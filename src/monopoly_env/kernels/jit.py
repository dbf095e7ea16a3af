"""What Numba does, imported only where a function must be compiled: functions, kernels, callbacks.

`linking` compiles kernels to code that its callers take in; with a Numba that it does not fit,
`plain` takes its place.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from types import ModuleType
from typing import Any, Final

import numba
from numba import types
from numba.core.cgutils import alloca_once, if_unlikely, unpack_tuple
from numba.core.event import TimingListener
from numba.core.event import register as register_listener
from numba.core.registry import cpu_target
from numba.core.typeinfer import register_dispatcher
from numba.extending import intrinsic, overload, overload_method
from numba.np.arrayobj import make_array, populate_array

from monopoly_env.kernels import borrowed, on_stack, plain
from monopoly_env.kernels.signatures import ArgumentType, Signature

# nogil: slices of a batch run on a thread pool. numpy error model: no hidden branch for division by
# zero.
OPTIONS: Final[dict[str, Any]] = {"nogil": True, "error_model": "numpy"}
_LINKING_FITS: Final = (0, 61), (0, 69)  # from this version of Numba up to, but without, that


def _compiler() -> ModuleType:
    """The module that compiles, for this version of Numba."""
    try:
        low, high = _LINKING_FITS
        if not low <= tuple(map(int, numba.__version__.split(".")[:2])) < high:
            raise ImportError("it was not tested with it")
        from monopoly_env.kernels import linking
    except (ImportError, AttributeError, ValueError) as error:
        warnings.warn(
            f"Numba {numba.__version__} has other internals than this version of monopoly_env"
            f" expects ({error}). Kernels compile more slowly.",
            stacklevel=2,
        )
        return plain
    return linking


_COMPILER: Final[Any] = _compiler()
_compiling: Final = TimingListener()
register_listener("numba:compiler_lock", _compiling)


def seconds() -> float:
    """Seconds in which this process compiled code or loaded it."""
    return _compiling.duration if _compiling.done else 0.0


def entry(function: Callable[..., Any]) -> Any:
    """The dispatcher of a function that Python calls, compiled on first use for its types."""
    return _COMPILER.entry(function, **OPTIONS)


def callback(function: Callable[..., Any], stated: Signature, checks: bool) -> Any:
    """The dispatcher of a function that is called by its address, compiled now.

    Args:
        function: In Python.
        stated: Its types.
        checks: Check every index, as for code from outside.
    """
    options = {"boundscheck": True} if checks else {}
    made = _COMPILER.entry(function, **OPTIONS, **options)
    with register_dispatcher(made):  # it may call itself
        made.compile(numba_signature(stated))
    made.disable_compile()
    return made


def address(dispatcher: Any, signature: Signature) -> int:
    """The address of a callback's machine code, valid as long as its dispatcher lives."""
    result = dispatcher.get_compile_result(numba_signature(signature))
    return int(result.library.get_pointer_to_function(result.fndesc.llvm_func_name))


def kernel(function: Callable[..., Any]) -> Any:
    """The dispatcher of a kernel."""
    return _COMPILER.kernel(function, **OPTIONS)


def inlined(function: Callable[..., Any]) -> Any:
    """The dispatcher of a function that is compiled into each kernel that calls it."""
    return numba.njit(inline="always", **OPTIONS)(function)


def generator(function: Callable[..., Any]) -> Any:
    """A generator that is compiled into each kernel with such a loop."""
    overload(function, strict=False)(lambda *_: function)
    return function


def type_of(compiled: Any) -> Any:
    """The type of Numba for something that compiled code may call."""
    cpu_target.typing_context.refresh()
    return cpu_target.typing_context.resolve_value_type(compiled)


def numba_signature(signature: Signature) -> Any:
    """The signature of Numba for a function."""
    return numba_type(signature.result)(*map(numba_type, signature.arguments))


def numba_type(kind: ArgumentType) -> Any:
    """The type of Numba for an argument or a result."""
    if kind.parts:
        parts = [numba_type(part) for part in kind.parts]
        if kind.tuple_type is tuple:
            return types.Tuple(parts)
        return types.NamedTuple(parts, kind.tuple_type)
    if kind.dtype is None:
        return types.none
    element = numba.from_dtype(kind.dtype)
    return types.Array(element, kind.ndim, "C") if kind.ndim else element


@overload(borrowed, strict=False)  # type: ignore[untyped-decorator]  # Numba's; not strict: a lambda has no annotations
def _borrowed(arrays: Any) -> Callable[[Any], Any]:
    return lambda arrays: _without_owners(arrays)  # noqa: PLW0108 - Numba takes functions of Python only


@intrinsic  # type: ignore[untyped-decorator]  # Numba's
def _without_owners(_: Any, arrays: Any) -> tuple[Any, Callable[..., Any]]:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return _strip(context, builder, arrays, arguments[0])

    return arrays(arrays), generate


def _strip(context: Any, builder: Any, kind: Any, value: Any) -> Any:
    """Machine code for a value of this type whose arrays have no owner."""
    if isinstance(kind, types.Array):
        view = context.make_helper(builder, kind, value)
        view.meminfo, view.parent = view.meminfo.type(None), view.parent.type(None)
        return view._getvalue()
    if isinstance(kind, types.BaseTuple):
        items = zip(kind, unpack_tuple(builder, value), strict=True)
        return context.make_tuple(
            builder, kind, [_strip(context, builder, part, item) for part, item in items]
        )
    # no effect on a number; otherwise one more reference, since the result will be released too
    context.nrt.incref(builder, kind, value)
    return value


# Part of the caller: the array of a function of its own would be gone when it returns.
@overload(on_stack, inline="always", prefer_literal=True, strict=False)  # type: ignore[untyped-decorator]  # Numba's
def _on_stack(count: Any, dtype: Any) -> Callable[..., Any]:
    del count, dtype
    return lambda count, dtype: _reserve(count, dtype)  # noqa: PLW0108 - Numba takes functions of Python only


@intrinsic(prefer_literal=True)  # type: ignore[untyped-decorator]  # Numba's
def _reserve(_: Any, count: Any, dtype: Any) -> tuple[Any, Callable[..., Any]]:
    if not isinstance(count, types.IntegerLiteral):
        raise numba.errors.RequireLiteralValue(
            "on_stack: the count must be a constant of the module, or a number."
        )
    kind = types.Array(dtype.dtype, 1, "C")

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        del signature, arguments
        number = context.get_data_type(kind.dtype)
        array, size = (
            make_array(kind)(context, builder),
            context.get_constant(types.intp, context.get_abi_sizeof(number)),
        )
        place = alloca_once(builder, number, size=count.literal_value)
        shape = [context.get_constant(types.intp, count.literal_value)]
        populate_array(array, data=place, shape=shape, strides=[size], itemsize=size, meminfo=None)
        return array._getvalue()

    return kind(count, dtype), generate


@overload_method(types.Integer, "bit_count", strict=False)  # type: ignore[untyped-decorator]  # Numba's
def _bit_count(bits: Any) -> Callable[[Any], Any]:
    return lambda bits: _ones(bits)  # noqa: PLW0108 - Numba takes functions of Python only


@intrinsic  # type: ignore[untyped-decorator]  # Numba's
def _ones(_: Any, bits: Any) -> tuple[Any, Callable[..., Any]]:
    del bits
    return types.int64(types.int64), lambda context, builder, signature, arguments: builder.ctpop(
        arguments[0]
    )


def caller(signature: Signature) -> Any:
    """The intrinsic that calls a callback by its address: `call(handle, ...)`.

    Numba's typed lists of functions would do the same, but each lookup counts references to the
    list, and threads that share it then wait for each other.
    """
    kinds = list(map(numba_type, signature.arguments))
    result = numba_type(signature.result)

    @intrinsic  # type: ignore[untyped-decorator]  # Numba's
    def call(_: Any, address: Any, *arguments: Any) -> tuple[Any, Any]:
        def generate(context: Any, builder: Any, _: Any, values: Any) -> Any:
            convention = context.call_conv
            function = convention.get_function_type(result, kinds).as_pointer()
            pointer = builder.inttoptr(values[0], function)
            status, value = convention.call_function(
                builder, pointer, result, kinds, unpack_tuple(builder, values[1])
            )
            with if_unlikely(builder, status.is_error):
                convention.return_status_propagate(builder, status)
            return value

        return result(numba.int64, types.StarArgTuple.from_types(kinds)), generate

    return call
