"""The process that keeps a lab up after `wirespeed lab up` has returned.

    python -m wirespeed.lab.machine_keeper NAME SPEC      (SPEC: a LabSpec in JSON)

It tells how far it is in lines: `doing TEXT`, then `up`, or `error JSON`. Then it closes its output
and waits: for SIGTERM, or for the last host to go. Killed, it takes the hosts with it.
"""

import json
import sys
from collections.abc import Sequence

from wirespeed.host.clock import sleep_s
from wirespeed.host.detached import interrupt_on_term, speak_no_more, speak_up
from wirespeed.lab.machine_spec import LabSpec
from wirespeed.lab.machines import Machines
from wirespeed.model.error import WirespeedError
from wirespeed.model.json_value import read_record

DOING, UP, ERROR = "doing ", "up", "error "
_POLL_S = 0.5


def main(arguments: Sequence[str]) -> int:
    """Bring a lab up and keep it."""
    interrupt_on_term()
    name, text = arguments
    spec = read_record(LabSpec, text)
    try:
        with Machines(spec, name=name, progress=lambda doing: speak_up(DOING + doing)) as lab:
            speak_up(UP)
            speak_no_more()
            while lab.alive():
                sleep_s(_POLL_S)
    except WirespeedError as error:
        fields = ("what", "where", "found", "so", "next")
        told = {field: getattr(error, field) for field in fields}
        speak_up(ERROR + json.dumps({**told, "exit_code": error.exit_code}))
        return 1
    except (BrokenPipeError, KeyboardInterrupt):
        # Nobody waits for it any more, or it was told to go.
        return 0
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
