# Apache-2.0
"""Runs the program wirespeed for the modules of this collection."""

from __future__ import annotations

COMMON = {
    "program": {"type": "str", "default": "wirespeed"},
}


def run(module, words, codes):
    """Run `wirespeed WORDS`; end the task as failed for an exit code that is not in `codes`."""
    program = module.get_bin_path(module.params["program"])
    if program is None:
        module.fail_json(
            msg=f"{module.params['program']}: no such program; install it there: "
            "pip install wirespeed, or delegate the task to the controller"
        )
    code, output, errors = module.run_command([program, *words])
    if code not in codes:
        first = next(iter((errors or output).strip().splitlines()), "")
        module.fail_json(
            msg=f"wirespeed {words[0]}: exit code {code}: {first}",
            rc=code,
            stdout=output,
            stderr=errors,
        )
    return code, output, errors
