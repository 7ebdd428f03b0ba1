#!/usr/bin/python
# Apache-2.0
"""Module capture of the collection: see DOCUMENTATION."""

from __future__ import annotations

DOCUMENTATION = r"""
module: capture
short_description: Read what a host says of itself into a file
version_added: "0.1.0"
description:
  - Calls C(wirespeed capture). Nothing is installed, written or sent on the host that is read.
options:
  host:
    description: Host as C(wirespeed capture) takes it.
    type: str
    default: here
  dest:
    description: File of the capture.
    type: path
    required: true
  anonymous:
    description: Replace addresses, serials and names.
    type: bool
    default: false
  program:
    description: Name or path of the program.
    type: str
    default: wirespeed
author:
  - The wirespeed project (@wirespeed)
"""

EXAMPLES = r"""
- name: Keep a capture of every host
  wirespeed.wirespeed.capture:
    host: "ssh://{{ ansible_host | default(inventory_hostname) }}"
    dest: "captures/{{ inventory_hostname }}.txt"
  delegate_to: localhost
"""

RETURN = r"""
unread:
  description: What could not be read, a line each.
  returned: always
  type: list
  elements: str
"""

import os

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.wirespeed.wirespeed.plugins.module_utils.program import COMMON, run


def main():
    """Run the module."""
    arguments = {
        **COMMON,
        "host": {"type": "str", "default": "here"},
        "dest": {"type": "path", "required": True},
        "anonymous": {"type": "bool", "default": False},
    }
    module = AnsibleModule(arguments, supports_check_mode=True)
    words = ["capture", "--out", module.params["dest"]]
    words += ["--anonymous"] if module.params["anonymous"] else []
    if module.check_mode:
        module.exit_json(changed=not os.path.exists(module.params["dest"]), unread=[])
    # Each capture has counters, so a file that is written again is another.
    errors = run(module, [*words, module.params["host"]], (0,))[2]
    module.exit_json(changed=True, unread=errors.splitlines())


if __name__ == "__main__":
    main()
