#!/usr/bin/python
# Apache-2.0
"""Module measure of the collection: see DOCUMENTATION."""

from __future__ import annotations

DOCUMENTATION = r"""
module: measure
short_description: Measure a command several times
version_added: "0.1.0"
description:
  - Calls C(wirespeed measure command), which runs a command of yours, watches hosts meanwhile, and keeps its figure.
options:
  command:
    description: The command and its words.
    type: list
    elements: str
    required: true
  figure:
    description: Regular expression whose group is the figure in what the command prints.
    type: str
    required: true
  unit:
    description: Unit of the figure.
    type: str
    required: true
  better:
    description: Which figure is the better one.
    type: str
    choices: [higher, lower]
    required: true
  runs:
    description: How often it is run.
    type: int
    default: 5
  out:
    description: Folder of the result.
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
- name: Five transfers
  wirespeed.wirespeed.measure:
    command: [iperf3, -c, 192.0.2.7]
    figure: '(\S+) Gbits/sec.*receiver'
    unit: Gb/s
    better: higher
    out: "figures/{{ inventory_hostname }}"
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
        "command": {"type": "list", "elements": "str", "required": True},
        "figure": {"type": "str", "required": True},
        "unit": {"type": "str", "required": True},
        "better": {"type": "str", "choices": ["higher", "lower"], "required": True},
        "runs": {"type": "int", "default": 5},
        "out": {"type": "path", "required": True},
    }
    module = AnsibleModule(arguments, supports_check_mode=True)
    if module.check_mode:
        module.exit_json(changed=False, skipped=True)
    words = ["measure", "command", "--out", module.params["out"], "-n", str(module.params["runs"])]
    words += ["--figure", module.params["figure"], "--unit", module.params["unit"]]
    words += ["--" + module.params["better"] + "-is-better", "--"]
    output = run(module, [*words, *module.params["command"]], (0,))[1]
    module.exit_json(changed=True, stdout=output)


if __name__ == "__main__":
    main()
