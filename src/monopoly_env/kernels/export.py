"""Compiled functions as code for any target: what Numba makes of them, before it knows a machine.

Each function and each kernel is compiled as for a run, but its library of code is collected instead
of being made machine code, and linked once into one module of LLVM. The module has neither
addresses of this process nor widths of this machine, so `optimized` makes objects for other
targets of it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from importlib import import_module
from typing import Any, Final, NamedTuple
from unittest.mock import patch

import llvmlite.binding as llvm
from numba.core import callconv, codegen, cpu
from numba.core.caching import NullCache
from numba.core.registry import cpu_target
from numba.core.runtime import nrtdynmod, rtsys

from monopoly_env.errors import EngineError
from monopoly_env.kernels import linking
from monopoly_env.kernels.jit import OPTIONS, numba_signature
from monopoly_env.kernels.signatures import Signature

_make_function: Final = import_module("numba._dynfunc").make_function


class Export(NamedTuple):
    """A function to compile ahead of time.

    Attributes:
        name: `module.function`.
        function: In Python.
        signature: Its types.
    """

    name: str
    function: Callable[..., Any]
    signature: Signature


class Code(NamedTuple):
    """Code of all exports for no machine in particular.

    Attributes:
        bitcode: A module of LLVM in which each export is `raw.NAME`.
        types: For each export, the types of LLVM of its arguments; the first two are the places of
            the result and of the error.
    """

    bitcode: bytes
    types: dict[str, list[str]]


class Machine(NamedTuple):
    """What to compile for.

    Attributes:
        triple: LLVM's.
        levels: Kinds of processors, the newest first, and LLVM's names of them. A library has code
            for each; `caller.c` chooses when it is loaded.
        linker: The target by zig's name.
        features: More that the processor has, by LLVM's names.
    """

    triple: str
    levels: dict[str, str]
    linker: str
    features: str = ""


# all of them in every browser since 2023
_WASM_FEATURES: Final = "+simd128,+bulk-memory,+nontrapping-fptoint,+sign-ext,+mutable-globals"
# measured: v3 and v4 are no faster, since sums of floats keep their order; networks are slower
_X86: Final = {"v2": "x86-64-v2"}
TARGETS: Final = {
    "linux-x86_64": Machine("x86_64-unknown-linux-gnu", _X86, "x86_64-linux-gnu.2.17"),
    "linux-aarch64": Machine("aarch64-unknown-linux-gnu", {"any": ""}, "aarch64-linux-gnu.2.17"),
    "darwin-aarch64": Machine(
        "arm64-apple-macosx11.0.0", {"any": "apple-m1"}, "aarch64-macos.11.0"
    ),
    "darwin-x86_64": Machine("x86_64-apple-macosx11.0.0", _X86, "x86_64-macos.11.0"),
    "win32-x86_64": Machine("x86_64-pc-windows-gnu", _X86, "x86_64-windows-gnu"),
    "wasm32": Machine("wasm32-unknown-wasi", {"any": "generic"}, "wasm32-wasi", _WASM_FEATURES),
}


def compile_all(exports: Sequence[Export], done: Callable[[str], None]) -> Code:
    """Compile exports to code for no machine in particular.

    Args:
        exports: The functions.
        done: Called with the name of each export that is compiled.
    """
    symbols, arguments = {}, {}
    with _collected() as libraries:
        for name, function, signature in exports:
            dispatcher = linking.linked(function, **OPTIONS)
            try:
                dispatcher.compile(numba_signature(signature))
            except Exception as error:
                raise EngineError(f"{name} does not compile as {signature}: {error}") from error
            (compiled,) = dispatcher.overloads.values()
            symbols[name] = compiled.fndesc.llvm_func_name
            done(name)
        module = _linked(libraries)
    for name, symbol in symbols.items():
        function = module.get_function(symbol)
        function.name = f"raw.{name}"
        arguments[name] = [str(argument.type) for argument in function.arguments]
    return Code(module.as_bitcode(), arguments)


@contextmanager
def _collected() -> Iterator[list[Any]]:
    """Let Numba collect libraries of code in this list, and make no machine code."""
    libraries: list[Any] = []

    def finalize(self: Any) -> None:
        if not self._finalized:
            self._finalized = True
            libraries.append(self)

    def leave_as_is(self: Any, module: Any) -> None:
        module.data_layout = self._codegen._data_layout  # Numba's passes fold 64-bit offsets

    def callable_of(self: Any, library: Any, description: Any, environment: Any) -> Any:
        name = description.qualname.split(".")[-1]
        return _make_function(description.lookup_module(), name, "", 1, environment, (library,))

    def without_place(_: Any, error: Any, arguments: Any, *place: Any) -> tuple[Any, ...]:
        del place  # a file of this machine
        return error, arguments, None

    replaced = [
        (callconv.CPUCallConv, "build_excinfo_struct", without_place),
        (codegen.CPUCodeLibrary, "finalize", finalize),
        (codegen.CPUCodeLibrary, "_optimize_functions", leave_as_is),
        (codegen.JITCodeLibrary, "get_pointer_to_function", lambda self, name: 0),
        (codegen.JITCPUCodegen, "set_env", lambda self, name, environment: None),
        (cpu.CPUContext, "get_executable", callable_of),
        (linking.KernelCode, "_finalize_final_module", lambda self: None),
        (linking.KernelCode, "place", lambda self, environment: None),
        (linking, "cache_of", lambda function, kind: NullCache()),
    ]
    with ExitStack() as stack:
        for owner, name, function in replaced:
            stack.enter_context(patch.object(owner, name, function))
        # the process has one that is optimized for its processor
        runtime = nrtdynmod.compile_nrt_functions(cpu_target.target_context)
        stack.enter_context(patch.object(rtsys, "_library", runtime, create=True))
        cpu_target.target_context.cached_internal_func.clear()
        for inner in linking.INNER:  # kernels that were compiled before are compiled again
            inner.cache_clear()
        yield libraries


def _linked(libraries: Sequence[Any]) -> Any:
    """One module with the code of all libraries, each function once."""
    modules = [library._final_module for library in libraries]
    for module in modules:
        for function in module.functions:
            if not function.is_declaration:
                function.linkage = llvm.Linkage.weak_odr
    while len(modules) > 1:  # in pairs: into one that grows takes fifteen times as long
        for module, other in zip(modules[::2], modules[1::2], strict=False):
            module.link_in(other)
        modules = modules[::2]
    modules[0].verify()
    return modules[0]


def optimized(code: Code, target: Machine, level: str) -> bytes:
    """An object file for a kind of processor of a target.

    It has the exports in `code.types` and what they call. It defines `monopoly_calls_LEVEL`, for
    each export a function that takes an array of slots of 64 bits (place of the result, place of
    the error, the arguments); `monopoly_functions_LEVEL`, the exports themselves.
    """
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    machine = llvm.Target.from_triple(target.triple).create_target_machine(
        cpu=target.levels[level],
        features=target.features,
        opt=3,
        reloc="static" if target.triple.startswith("wasm") else "pic",
        codemodel="default",
    )
    module = llvm.parse_bitcode(code.bitcode)
    wrappers = llvm.parse_assembly(
        "\n".join([*map(_wrapper, code.types.items()), *_tables(code, level)])
    )
    for part in (module, wrappers):
        part.triple, part.data_layout = target.triple, str(machine.target_data)
    module.link_in(wrappers)
    for item in (*module.functions, *module.global_variables):
        if not item.is_declaration:
            public = item.name.startswith("monopoly_")
            item.linkage = llvm.Linkage.external if public else llvm.Linkage.internal
    # equal tables become one: Numba makes a copy of each for each user
    text = re.sub(r"(?m)^(@[^ ]+ = internal) constant", r"\1 unnamed_addr constant", str(module))
    module = llvm.parse_assembly(text)
    module.verify()
    _run_passes(module, machine, first=True)
    _run_passes(module, machine, first=False)
    left = [item.name for item in module.global_variables if ".dynamic." in item.name]
    assert not left, f"addresses of this process: {left}"
    missing = [one.name for one in module.functions if one.is_declaration and "_ZN" in one.name]
    assert not missing, f"kernels whose code was not collected: {missing}"
    return bytes(machine.emit_object(module))


def _wrapper(export: tuple[str, list[str]]) -> str:
    """A function with one argument, the array of slots, that calls an export."""
    name, arguments = export
    lines = [f'declare i32 @"raw.{name}"({", ".join(arguments)})',
             f'define i32 @"call.{name}"(ptr %slots) {{',
             "  %error = getelementptr i64, ptr %slots, i64 1",
             "  store ptr null, ptr %error"]  # fmt: skip
    given = ["ptr %slots", "ptr %error"]
    for i, kind in enumerate(arguments[2:]):
        lines.append(f"  %place{i} = getelementptr i64, ptr %slots, i64 {i + 2}")
        lines.append(f"  %value{i} = load {kind}, ptr %place{i}")
        given.append(f"{kind} %value{i}")
    lines.append(f'  %status = call i32 @"raw.{name}"({", ".join(given)})')
    return "\n".join([*lines, "  ret i32 %status", "}"])


def _tables(code: Code, level: str) -> Iterator[str]:
    for name, prefix in (("calls", "call"), ("functions", "raw")):
        items = ", ".join(f'ptr @"{prefix}.{export}"' for export in code.types)
        yield f"@monopoly_{name}_{level} = constant [{len(code.types)} x ptr] [{items}]"


def _run_passes(module: Any, machine: Any, first: bool) -> None:
    """Optimize a module: first drop doubled tables and references, then all that LLVM knows."""
    options = llvm.create_pipeline_tuning_options(speed_level=0 if first else 3)
    options.loop_vectorization = options.slp_vectorization = not first
    builder = llvm.create_pass_builder(machine, options)
    passes = builder.getModulePassManager()
    if first:
        passes.add_global_dead_code_eliminate_pass()
        passes.add_constant_merge_pass()
        passes.add_loop_rotate_pass()
        passes.add_instruction_combine_pass()
        passes.add_jump_threading_pass()
    passes.add_refprune_pass()
    passes.run(module, builder)
