"""Kernels as code to link, optimized only inside the functions that Python calls.

Numba optimizes each function together with all that it calls, makes machine code of it and wraps it
for Python. A kernel that only compiled code calls needs none of that: the function that Python
calls is optimized with the kernel's code inside. A program that plays networks, with some 500
kernels, compiles in 58 instead of 140 seconds.

So a kernel stops after the passes over single functions, before those that inline what it calls.
Its code is kept on disk as LLVM's bitcode.

Nor does a kernel count references to the arrays that it is given, if it neither makes nor returns
any: its caller keeps them. Each count is a call, even for an array that is `borrowed`; without them
`expert` plays a tenth faster.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, Final

import llvmlite.binding as llvm
import numba
from numba import types
from numba.core import ir
from numba.core.caching import NullCache
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler, CompileResult, DefaultPassBuilder, compile_result
from numba.core.compiler_machinery import AnalysisPass, PassManager, register_pass
from numba.core.registry import CPUDispatcher
from numba.core.typed_passes import NopythonTypeInference

from monopoly_env.kernels.code_cache import CodeCache
from monopoly_env.kernels.sources import cache_folder, is_registered

# for each kernel, what makes the dispatcher for compiled callers
INNER: Final[list[Any]] = []
# expressions that only pass on what is there
_BORROWING: Final = ("getitem", "static_getitem", "getattr", "build_tuple", "cast", "phi")


def entry(function: Callable[..., Any], **options: Any) -> Any:
    """A dispatcher of Numba for a function that Python calls."""
    dispatcher: Any = numba.njit(pipeline_class=_WholeCompiler, **options)(function)
    dispatcher._cache = cache_of(function, CodeCache)
    return dispatcher


def kernel(function: Callable[..., Any], **options: Any) -> Any:
    """A dispatcher of Numba for a function that compiled code calls, and perhaps Python.

    Its attribute `linked` makes the dispatcher for compiled callers, when the first of them is
    compiled; most programs load those from disk instead.
    """
    dispatcher = entry(function, **options)

    @cache
    def inner() -> Any:
        code = linked(function, **options)
        # so that Numba notices a kernel that calls itself
        code._compiling_counter = dispatcher._compiling_counter
        return code

    INNER.append(inner)

    def resolve_widened(args: tuple[Any, ...], kws: dict[str, Any]) -> Any:
        return inner().get_call_template(
            tuple(map(_widened, args)), {name: _widened(kind) for name, kind in kws.items()}
        )

    # Otherwise Numba would compile a kernel again for each mix of integer widths and literals,
    # which takes half as long again.
    dispatcher.get_call_template = resolve_widened
    dispatcher.get_overload = lambda signature: inner().get_overload(signature)
    dispatcher.linked = inner
    return dispatcher


def linked(function: Callable[..., Any], **options: Any) -> Any:
    """A dispatcher of Numba for a function that only compiled code calls."""
    code = _LinkedDispatcher(
        function, targetoptions={"nopython": True, **options}, pipeline_class=_CodeCompiler
    )
    code._cache = cache_of(function, LinkedCache)
    return code


def _widened(kind: Any) -> Any:
    kind = types.unliteral(kind)
    return types.int64 if isinstance(kind, types.Integer) else kind


def cache_of(function: Callable[..., Any], kind: type[CodeCache]) -> NullCache:
    """The cache of a function's code; none for a function typed at a prompt."""
    file, module = Path(function.__code__.co_filename).absolute(), function.__module__
    if not file.is_file():
        return NullCache()
    return kind(function, cache_folder(module), module if is_registered(module) else str(file))


class _Whole(JITCodeLibrary):  # type: ignore[misc]  # Numba's, untyped
    """The code of a function that Python calls, with the kernels that it calls."""

    def _optimize_final_module(self) -> None:
        """Optimize with linked functions internal: they are inlined and dropped, a fifth faster."""
        for function in self._final_module.functions:
            if not function.is_declaration and function.linkage == llvm.Linkage.linkonce_odr:
                function.linkage = llvm.Linkage.internal
        super()._optimize_final_module()


class _WholeCompiler(Compiler):  # type: ignore[misc]  # Numba's, untyped
    """Numba's stages for a function that Python calls."""

    def compile_extra(self, func: Callable[..., Any]) -> CompileResult:
        """Compile a function into a library of this module."""
        self.state.library = _Whole(self.state.targetctx.codegen(), func.__qualname__)
        self.state.library.enable_object_caching()
        return super().compile_extra(func)


class KernelCode(JITCodeLibrary):  # type: ignore[misc]  # Numba's, untyped
    """The code of a kernel. It is never made machine code, so it has no address."""

    def _optimize_final_module(self) -> None:
        """Left to the function that it is linked into."""

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True

    def serialize_using_object_code(self) -> tuple[str, str, bytes]:
        """What is kept on disk: bitcode, as there is no object code."""
        return self.serialize_using_bitcode()  # type: ignore[no-any-return]

    @classmethod
    def loaded(cls, codegen: Any, name: str, bitcode: bytes) -> KernelCode:
        """The code that was kept on disk."""
        code = cls(codegen, name)
        code._final_module = llvm.parse_bitcode(bitcode)
        code._finalize_final_module()
        return code

    def place(self, environment: Any) -> None:
        """Place the function's constants of Python: what it prints, arguments of exceptions.

        Each copy of the code declares a variable for the address; the first one that has a place
        is that of all.
        """
        name = environment.env_name
        variable = llvm.parse_assembly(f'@"{name}" = common global i64 0')
        variable.triple = self._final_module.triple
        variable.data_layout = self._codegen._data_layout
        self._codegen._add_module(variable)
        self._codegen._engine.finalize_object()
        self._codegen.set_env(name, environment)


@register_pass(mutates_CFG=False, analysis_only=True)
class _Borrow(AnalysisPass):  # type: ignore[misc]  # Numba's, untyped
    """Count no references in a kernel that makes, copies and returns no array (list, iterator).

    Nor does it raise an error whose arguments must be kept.
    """

    _name = "borrow"

    def __init__(self) -> None:
        super().__init__()

    def run_pass(self, state: Any) -> bool:
        statements = [
            statement for block in state.func_ir.blocks.values() for statement in block.body
        ]
        kinds = {state.return_type}
        for statement in statements:
            if (
                isinstance(statement, ir.Assign)
                and isinstance(statement.value, ir.Expr)
                and statement.value.op not in _BORROWING
            ):
                kinds.add(state.typemap[statement.target.name])
            elif isinstance(statement, (ir.SetItem, ir.StaticSetItem)):
                kinds.add(state.typemap[statement.value.name])
        owns = any(
            state.targetctx.data_model_manager[kind].contains_nrt_meminfo() for kind in kinds
        )
        if not owns and not any(isinstance(statement, ir.DynamicRaise) for statement in statements):
            state.targetctx = state.targetctx.subtarget(enable_nrt=False)
        return False


class _CodeCompiler(Compiler):  # type: ignore[misc]  # Numba's, untyped
    """Numba's stages, up to code."""

    def define_pipelines(self) -> list[PassManager]:
        stages = DefaultPassBuilder.define_nopython_pipeline(self.state)
        stages.add_pass_after(_Borrow, NopythonTypeInference)
        stages.finalize()
        return [stages]

    def compile_extra(self, func: Callable[..., Any]) -> CompileResult:
        self.state.library = KernelCode(self.state.targetctx.codegen(), func.__qualname__)
        self.state.flags.no_compile = self.state.flags.no_cpython_wrapper = (
            self.state.flags.no_cfunc_wrapper
        ) = True
        result = super().compile_extra(func)
        result.library.finalize()
        # A caller finds the code by its entry point. Of a function without an address, that may be
        # any object.
        self.state.targetctx.insert_user_function(result.library, result.fndesc, [result.library])
        return result._replace(entry_point=result.library)


class _LinkedDispatcher(CPUDispatcher):  # type: ignore[misc]  # Numba's, untyped
    """Compiled for callers that are compiled; Python can't call it."""

    def add_overload(self, cres: CompileResult) -> None:
        cres.library.place(cres.environment)
        self.overloads[tuple(cres.signature.args)] = cres


class LinkedCache(CodeCache):
    """Code to link on disk, beside the machine code of the function if Python calls it, too."""

    def rebuild(self, target_context: Any, reduced: tuple[Any, ...]) -> CompileResult:
        """Make what a file holds ready for its callers."""
        (name, _, bitcode), description, environment, signature, *_ = reduced
        code = KernelCode.loaded(target_context.codegen(), name, bitcode)
        return compile_result(
            target_context=target_context,
            typing_context=target_context.typing_context,
            library=code,
            entry_point=code,
            fndesc=description,
            environment=environment,
            signature=signature,
            objectmode=False,
        )
