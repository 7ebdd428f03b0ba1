#!/usr/bin/python
# Apache-2.0
"""Module undo of the collection: see DOCUMENTATION."""

from __future__ import annotations

DOCUMENTATION = r"""
module: undo
short_description: Take back what was applied
version_added: "0.1.0"
description:
  - Calls C(wirespeed undo). Check mode calls C(wirespeed status), which reads the journal of the run alone.
  - If the spec has no run, there is nothing to do. Everything else that cannot be undone fails, also a spec that does not exist.
options:
  spec:
    description: File of the spec, or folder of its run.
    type: path
    required: true
  program:
    description: Name or path of the program.
    type: str
    default: wirespeed
author:
  - The wirespeed project (@wirespeed)
"""

EXAMPLES = r"""
- name: As it was found
  wirespeed.wirespeed.undo:
    spec: "specs/{{ inventory_hostname }}.yaml"
  delegate_to: localhost
"""

RETURN = r"""
stdout:
  description: What the program printed.
  returned: when it ran
  type: str
"""

import os

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.wirespeed.wirespeed.plugins.module_utils.program import (
    COMMON,
    error_of,
    fail,
    run,
)


def main():
    """Run the module."""
    arguments = {
        **COMMON,
        "spec": {"type": "path", "required": True},
    }
    module = AnsibleModule(arguments, supports_check_mode=True)
    spec = module.params["spec"]
    words = ["status" if module.check_mode else "undo", spec]
    code, output, errors = run(module, words, (0, 1, 2, 3, 4) if module.check_mode else (0, 2))
    error = error_of(errors)
    if error == "run.missing" and os.path.exists(spec):
        module.exit_json(changed=False, stdout=output)
    # What is damaged may still be undone.
    if code == 2 or error not in ("", "run.damaged"):
        fail(module, words, code, output, errors)
    firsts = [line.split()[0] for line in output.splitlines() if line.strip()]
    if module.check_mode:
        is_in_force = "undone:" not in firsts and output.strip() != "nothing was started"
        module.exit_json(changed=is_in_force, stdout=output)
    module.exit_json(changed="restored" in firsts, stdout=output)


if __name__ == "__main__":
    main()
