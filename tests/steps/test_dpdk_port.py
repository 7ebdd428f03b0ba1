"""A whole port goes to DPDK, and comes back as it was."""

from dataclasses import dataclass, field

import pytest
from proof import Answer, UnknownCommandError, plan_on, prove
from samples import is_never_guessed, reason_of, section_of, state_of

from wirespeed.model.command import Command
from wirespeed.steps.dpdk_port import DpdkPort

PORT = "0000:02:00.0"
FOLDER = f"/sys/bus/pci/devices/{PORT}"
STEP = DpdkPort(pci_address=PORT, netdev="enp2s0")
UEVENT = f"PCI_CLASS=20000\nPCI_ID=8086:10C9\nPCI_SLOT_NAME={PORT}\n"


@dataclass
class DescribedPort:
    """One port: drivers/pci/pci-driver.c, drivers/base/bus.c, and the netdev that igb makes."""

    driver: str | None = "igb"
    override: str | None = None
    netdev: dict[str, int] | None = field(default_factory=lambda: {"flags": 0x1003, "mtu": 1500})
    has_name: bool = field(default=True, compare=False)
    """udev gives it, some time after the driver made the netdev."""

    def run(self, command: Command) -> Answer:
        match command.argv:
            case ("grep", "-H", "", *paths) if command.stdin is None:
                return self._grep(paths)
            case ("tee", path):
                return self._write(path, str(command.stdin))
            case ("udevadm", "settle", "--timeout=30"):
                self.has_name = True
                return Answer()
            case ("ip", "link", "set", "dev", "enp2s0", *words):
                return self._set(words)
        raise UnknownCommandError(command.line())

    def _grep(self, paths: list[str]) -> Answer:
        uevent = (f"DRIVER={self.driver}\n" if self.driver else "") + UEVENT
        files = {"driver_override": f"{self.override or '(null)'}\n", "uevent": uevent}
        net = f"{FOLDER}/net/enp2s0"
        texts = {f"{FOLDER}/{name}": text for name, text in files.items()}
        if self.netdev is not None:
            texts |= {f"{net}/flags": f"{self.netdev['flags']:#x}\n"}
            texts |= {f"{net}/mtu": f"{self.netdev['mtu']}\n"}
        there = [path for path in paths if path in texts]
        lines = [f"{path}:{line}\n" for path in there for line in texts[path].splitlines()]
        gone = [f"grep: {p}: No such file or directory\n" for p in paths if p not in texts]
        return Answer("".join(lines), "".join(gone), 2 if gone else 0)

    def _set(self, words: list[str]) -> Answer:
        if self.netdev is None or not self.has_name:
            return Answer("", 'Cannot find device "enp2s0"\n', 1)
        match words:
            case ["up"]:
                self.netdev["flags"] |= 1
            case ["down"]:
                self.netdev["flags"] &= ~1
            case ["mtu", mtu]:
                self.netdev["mtu"] = int(mtu)
            case _:
                raise UnknownCommandError(" ".join(words))
        return Answer()

    def _write(self, path: str, text: str) -> Answer:
        if path == f"{FOLDER}/driver_override":
            self.override = text or None
        elif (path, text) == (f"{FOLDER}/driver/unbind", PORT):
            if self.driver is None:
                return Answer(text, f"tee: {path}: No such file or directory", 1)
            self.driver, self.netdev = None, None
        elif (path, text) == ("/sys/bus/pci/drivers_probe", PORT):
            if self.driver is None:
                self.driver = self.override or "igb"
            if self.driver == "igb" and self.netdev is None:
                self.netdev, self.has_name = {"flags": 0x1002, "mtu": 1500}, False
        else:
            raise UnknownCommandError(f"{text!r} to {path}")
        return Answer(text + "\n")


GONE = DescribedPort("vfio-pci", "vfio-pci", None)


@pytest.mark.parametrize(("flags", "mtu"), [(0x1003, 1500), (0x1002, 1500), (0x1003, 9000)])
def test_it_goes_to_vfio_and_comes_back_with_its_mtu_and_up_if_it_was(flags: int, mtu: int):
    prove(STEP, DescribedPort(netdev={"flags": flags, "mtu": mtu}), GONE)


def test_the_commands():
    planned = plan_on(STEP, DescribedPort()).steps[0]
    assert [c.line() for c in planned.undo][-2:] == [
        "udevadm settle --timeout=30",
        "ip link set dev enp2s0 up",
    ]


def test_one_that_has_left_already_is_as_wanted():
    planned = plan_on(DpdkPort(pci_address=PORT, netdev=None), GONE).steps[0]
    assert planned.no_op


def test_it_is_never_guessed():
    is_never_guessed(STEP)
    text = DescribedPort().run(STEP.read()).output
    known = {"driver": "igb", "driver_override": None, "up": True, "mtu": 1500}
    assert state_of(STEP, section_of(text)) == known
    for was, becomes in (("0x1003", "up"), ("mtu:1500", "mtu:x"), ("net/enp2s0", "net/eth9")):
        assert was in text
        reason_of(STEP, section_of(text.replace(was, becomes)))
