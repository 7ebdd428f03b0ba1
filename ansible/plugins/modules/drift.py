#!/usr/bin/python
# Apache-2.0
"""Module drift of the collection: see DOCUMENTATION."""

from __future__ import annotations

DOCUMENTATION = r"""
module: drift
short_description: Tell what changed on hosts since a spec was applied
version_added: "0.1.0"
description:
  - Calls C(wirespeed drift). It reads only.
  - A host that is not read fails the task.
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
- name: Does all stand as it was applied?
  wirespeed.wirespeed.drift:
    spec: "specs/{{ inventory_hostname }}.yaml"
  delegate_to: localhost
  register: drift
  failed_when: drift.drifted or not drift.in_force
"""

RETURN = r"""
in_force:
  description: Whether the run has steps that are in force. If it was undone, nothing can have drifted.
  returned: always
  type: bool
drifted:
  description: Whether something differs.
  returned: always
  type: bool
lines:
  description: What differs.
  returned: always
  type: list
  elements: str
"""

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.wirespeed.wirespeed.plugins.module_utils.program import (
    COMMON,
    error_of,
    fail,
    run,
)

NOT_IN_FORCE = "no step is in force"
"""What `wirespeed drift` says of a run that was undone, with exit code 0."""


def main():
    """Run the module."""
    arguments = {
        **COMMON,
        "spec": {"type": "path", "required": True},
    }
    module = AnsibleModule(arguments, supports_check_mode=True)
    words = ["drift", module.params["spec"]]
    code, output, errors = run(module, words, (0, 1))
    if error_of(errors):
        # Exit code 1 is also that of a reading that failed.
        fail(module, words, code, output, errors)
    is_in_force = NOT_IN_FORCE not in output
    lines = output.splitlines()
    module.exit_json(changed=False, drifted=code == 1, in_force=is_in_force, lines=lines)


if __name__ == "__main__":
    main()
