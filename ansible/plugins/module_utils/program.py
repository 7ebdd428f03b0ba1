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
        fail(module, words, code, output, errors)
    return code, output, errors


def fail(module, words, code, output, errors):
    """End the task as failed, with what the program says."""
    said = " ".join((errors or output).split())
    module.fail_json(
        msg=f"wirespeed {words[0]}: exit code {code}: {said}",
        rc=code,
        stdout=output,
        stderr=errors,
    )


def error_of(errors):
    """Give what an error of the program is, such as `run.missing`; empty: it says none."""
    found = [line.split() for line in errors.splitlines() if line.startswith("ERROR ")]
    return found[0][1] if found else ""
