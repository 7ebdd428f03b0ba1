#!/usr/bin/python
# Apache-2.0
"""Module undo of the collection: see DOCUMENTATION."""

from __future__ import annotations

DOCUMENTATION = r"""
module: undo
short_description: Take back what was applied
version_added: "0.1.0"
description:
  - Calls C(wirespeed undo).
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

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.wirespeed.wirespeed.plugins.module_utils.program import COMMON, run


def main():
    """Run the module."""
    arguments = {
        **COMMON,
        "spec": {"type": "path", "required": True},
    }
    module = AnsibleModule(arguments, supports_check_mode=True)
    spec = module.params["spec"]
    code, output = run(module, ["status", spec], (0, 1, 2, 3, 4))[:2]
    stands = code in (0, 1, 3, 4) and not output.strip().endswith(("undone", "nothing was started"))
    if code == 2 or module.check_mode:
        module.exit_json(changed=code != 2 and stands)
    output = run(module, ["undo", spec], (0,))[1]
    module.exit_json(changed="restored" in output, stdout=output)


if __name__ == "__main__":
    main()
