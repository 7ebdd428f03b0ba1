#!/usr/bin/python
# Apache-2.0
"""Module apply of the collection: see DOCUMENTATION."""

from __future__ import annotations

DOCUMENTATION = r"""
module: apply
short_description: Apply a spec and verify every step
version_added: "0.1.0"
description:
  - Calls C(wirespeed apply --yes). Check mode is C(wirespeed plan), and the diff is what that plan would make different.
  - If a step fails, all steps are undone.
  - If a host has to be rebooted before the next stage, the task fails and says so; what is done stays. Reboot the host, then run the task again.
options:
  spec:
    description: File of the spec.
    type: path
    required: true
  run:
    description: Folder of the run, with its journal.
    type: path
  try_seconds:
    description: Seconds after which each host undoes the whole run, unless C(wirespeed confirm) is run first.
    type: int
  allow_cutoff:
    description: Also change the port through which wirespeed reaches a host.
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
- name: Set up the ports of a host
  wirespeed.wirespeed.apply:
    spec: "specs/{{ inventory_hostname }}.yaml"
  delegate_to: localhost
"""

RETURN = r"""
reboot_required:
  description: Whether a stage is done that is in force, and continued, only after a reboot.
  returned: when it is so
  type: bool
steps:
  description: Steps of the plan that change something, by kind and subject.
  returned: always
  type: list
  elements: str
"""

import json

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.wirespeed.wirespeed.plugins.module_utils.program import COMMON, run

REBOOT_DUE = 4
"""Exit code of `wirespeed apply`: not a failure of a step, and nothing was undone."""


def main():
    """Run the module."""
    arguments = {
        **COMMON,
        "spec": {"type": "path", "required": True},
        "run": {"type": "path"},
        "try_seconds": {"type": "int"},
        "allow_cutoff": {"type": "bool", "default": False},
    }
    module = AnsibleModule(arguments, supports_check_mode=True)
    spec = module.params["spec"]
    planned = json.loads(run(module, ["plan", "--json", spec], (0,))[1])
    steps = [step for step in planned["steps"] if not step.get("no_op")]
    names = [f"{step['step']['step']} on {step['host']}" for step in steps]
    diff = {}
    if module._diff:
        diff = {"prepared": run(module, ["plan", "--diff", spec], (0,))[1]}
    if module.check_mode:
        module.exit_json(changed=bool(steps), steps=names, diff=diff)
    words = ["apply", spec, "--yes"]
    words += ["--run", module.params["run"]] if module.params["run"] else []
    if module.params["try_seconds"] is not None:
        words += ["--try", str(module.params["try_seconds"])]
    words += ["--allow-cutoff"] if module.params["allow_cutoff"] else []
    code, output = run(module, words, (0, REBOOT_DUE))[:2]
    if code == REBOOT_DUE:
        module.fail_json(
            msg="; ".join(output.strip().splitlines()[-2:]),
            rc=code,
            changed=True,
            reboot_required=True,
            steps=names,
            stdout=output,
        )
    module.exit_json(changed=bool(steps), steps=names, diff=diff, stdout=output)


if __name__ == "__main__":
    main()
