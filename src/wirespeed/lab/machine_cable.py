"""The cables of a lab's hosts, as ports that can be taken away: also of one that its keeper runs.

python -m wirespeed.lab.machine_cable CONTROL PORT up|down      what does it, and undoes it
"""

import sys
from collections.abc import Sequence
from pathlib import Path

from wirespeed.host.detached import our_python, our_python_path
from wirespeed.host.lab_folders import LAB_NAME, labs_folder
from wirespeed.host.local import LocalRunner
from wirespeed.host.qmp import Qmp
from wirespeed.lab.machine_qemu import card
from wirespeed.lab.machine_spec import HOST_NAME, PORTS
from wirespeed.measure.network.port_switch import BorrowedPort
from wirespeed.model.command import Command


def lab_control(destination: str) -> Path | None:
    """Give the control socket of `alpha.lab`; None where no lab of this user has such a host."""
    host, _, lab = destination.partition(".")
    if not (HOST_NAME.fullmatch(host) and LAB_NAME.fullmatch(lab)):
        return None
    control = labs_folder() / lab / f"{host}.qmp"
    return control if control.is_socket() else None


def lab_cable(control: Path, *, host: str, port: str, number: int) -> BorrowedPort:
    """Give the cable of a host's port `number`. Its end at the host loses the link, no other does.

    The command that puts it back is started beforehand and waits: a killed measurement leaves no
    cable pulled.
    """
    environment = [f"{name}={value}" for name, value in our_python_path().items()]

    def command(word: str) -> Command:
        program = our_python("wirespeed.lab.machine_cable")
        return Command(argv=("env", *environment, *program, str(control), str(number), word))

    return BorrowedPort(
        LocalRunner(),
        host=host,
        port=port,
        number=number,
        how="cable pulled",
        away=command("down"),
        back=command("up"),
    )


def main(arguments: Sequence[str]) -> int:
    """Pull a cable or put it back."""
    control, port, word = arguments
    if word not in ("up", "down") or not port.isdecimal() or int(port) >= PORTS:
        return 2
    with Qmp(Path(control)) as qmp:
        qmp.execute("set_link", name=card(int(port)), up=word == "up")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
