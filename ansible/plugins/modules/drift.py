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
  failed_when: drift.drifted
"""

RETURN = r"""
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
from ansible_collections.wirespeed.wirespeed.plugins.module_utils.program import COMMON, run


def main():
    """Run the module."""
    arguments = {
        **COMMON,
        "spec": {"type": "path", "required": True},
    }
    module = AnsibleModule(arguments, supports_check_mode=True)
    code, output = run(module, ["drift", module.params["spec"]], (0, 1))[:2]
    module.exit_json(changed=False, drifted=code == 1, lines=output.splitlines())


if __name__ == "__main__":
    main()
