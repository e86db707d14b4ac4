"""PTX, the language of NVIDIA's drivers, from LLVM's."""

from __future__ import annotations

import functools
from typing import Any

from swelltree.engine.machine.graph import NotFlattenedError
from swelltree.engine.machine.many_cases.threads import TRIPLE
from swelltree.engine.machine.native import llvm


@functools.lru_cache(maxsize=4)
def _target(architecture: str) -> Any:
    llvm().initialize_all_targets()
    llvm().initialize_all_asmprinters()
    target = llvm().Target.from_triple(TRIPLE)
    return target.create_target_machine(cpu=architecture, features="+ptx80", opt=3)


def ptx_of(text: str, architecture: str = "sm_80", optimise: bool = False) -> str:
    """PTX of a text in LLVM's language; needs no GPU.

    Args:
        text: of a module.
        architecture: of the processor.
        optimise: let LLVM rewrite it first, which takes long where it is long.
    """
    try:
        module = llvm().parse_assembly(text)
        module.verify()
    except RuntimeError as error:
        raise NotFlattenedError(f"what LLVM does not read ({error})") from error
    inlined = llvm().create_new_module_pass_manager()
    inlined.add_always_inliner_pass()
    tuning = llvm().create_pipeline_tuning_options(speed_level=0)
    inlined.run(module, llvm().create_pass_builder(_target(architecture), tuning))
    if optimise:
        tuning = llvm().create_pipeline_tuning_options(speed_level=2)
        passes = llvm().create_pass_builder(_target(architecture), tuning)
        passes.getModulePassManager().run(module, passes)
    return _target(architecture).emit_assembly(module)
