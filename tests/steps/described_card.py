"""A card of Mellanox or NVIDIA with its firmware, and the tools of mstflint 4.21 about it.

Texts as its sources print them: QuerySubCommand::printInfo and BurnSubCommand (flint/
subcommands.cpp), CmdRegMfrl.query_text (small_utils/mlxfwresetlib/cmd_reg_mfrl.py). Not proven on
hardware.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from proof import Answer, UnknownCommandError

from wirespeed.model.command import Command
from wirespeed.steps.firmware_image import BURN

CARD = "0000:03:00.0"
PSID = "MT_0000000228"
OTHER_PSID = "DEL0000000027"
NEW, OLD = "/srv/fw-20_36_1010.bin", "/srv/fw-20_35_1012.bin"
LEVELS = {
    0: 'Driver, PCI link, network link will remain up ("live-Patch")',
    3: "Driver restart and PCI reset",
    4: "Warm Reboot",
}


@dataclass
class DescribedCard:
    """Understands `xargs -L 1 env` with queries, `burn` and `reset`."""

    stored: str = "20.35.1012"
    running: str = "20.35.1012"
    psid: str = PSID
    images: dict[str, tuple[str, str]] = field(
        default_factory=lambda: {NEW: (PSID, "20.36.1010"), OLD: (PSID, "20.35.1012")}
    )
    """Path: PSID and version."""
    levels: tuple[int, ...] = (3, 4)
    """Resets that it supports."""
    in_force: dict[str, int] = field(default_factory=lambda: {"NUM_OF_VFS": 8})
    next_boot: dict[str, int] = field(default_factory=lambda: {"NUM_OF_VFS": 8})
    needs_a_boot: bool = False
    """Its settings change PCI functions: no reset brings them."""
    resets: int = 0

    def run(self, command: Command) -> Answer:
        match command.argv:
            case ("xargs", "-L", "1", "env") if command.stdin is not None:
                return self._all(command.stdin.split("\n"))
            case ("mstflint", "-d", address, "-i", image, "-y", "burn") if address == CARD:
                return self._burn(image)
            case ("sh", "-c", script, "sh", "mstflint", address, image, *words) if (
                script == BURN and address == CARD
            ):
                return self._burn_copy(image, *words)
            case ("mstfwreset", "-d", address, "-y", "reset") if address == CARD:
                return self._reset()
            case ("mstconfig", "-d", address, "-y", "set", *words) if address == CARD:
                return self._store(words)
            case _:
                raise UnknownCommandError(command.line())

    def _all(self, lines: list[str]) -> Answer:
        answers = [self._one(line.split(" ")) for line in lines]
        # xargs: 123 where any of them failed, and the others run all the same.
        code = 123 if any(a.returncode for a in answers) else 0
        return Answer("".join(a.output for a in answers), "".join(a.errors for a in answers), code)

    def _one(self, words: list[str]) -> Answer:
        match words:
            case ["mstflint", "-d", address, "-qq", "query"] if address == CARD:
                return Answer(self._query(self.psid, self.stored, self.running))
            case ["mstflint", "-i", image, "query"]:
                if image not in self.images:
                    return Answer("", f'-E- Cannot open Image "{image}". No such file.\n', 1)
                psid, version = self.images[image]
                return Answer(self._query(psid, version, version))
            case ["mstfwreset", "-d", address, "query"] if address == CARD:
                return Answer(self._levels())
            case ["mstconfig", "-d", address, "-e", "q", *names] if address == CARD:
                return Answer(self._settings(names or list(self.next_boot)))
            case _:
                raise UnknownCommandError(" ".join(words))

    def _query(self, psid: str, stored: str, running: str) -> str:
        running_line = f"FW Version(Running):   {running}\n" if running != stored else ""
        return (
            f"Image type:            FS4\nFW Version:            {stored}\n{running_line}"
            "FW Release Date:       28.10.2022\n"
            f"Product Version:       {stored}\n"
            "Rom Info:              type=UEFI version=14.28.15 cpu=AMD64,AARCH64\n"
            "                       type=PXE version=3.6.804 cpu=AMD64\n"
            "Description:           UID                GuidsNumber\n"
            "Base GUID:             043f720300f04c46        8\n"
            "Base MAC:              043f72f04c46            8\n"
            "Image VSD:             N/A\nDevice VSD:            N/A\n"
            f"PSID:                  {psid}\nSecurity Attributes:   N/A\n"
        )

    def _levels(self) -> str:
        least = min(self.levels, default=None)
        rows = "".join(
            f"{level}: {text:<62}-{'Supported' if level in self.levels else 'Not Supported':<14}"
            f"{'(default)' if level == least else ''}\n"
            for level, text in LEVELS.items()
        )
        return (
            f"\nSupported reset levels for loading FW on device, {CARD}:\n\nReset-levels:\n{rows}"
        )

    def _settings(self, names: Sequence[str]) -> str:
        titles = "".join(f"{title:<16}" for title in ("Default", "Current", "Next Boot"))
        rows = "".join(
            f"{' ' if now == then else '*'}        {name:<36}{0:<16}{now:<16}{then}\n"
            for name, then in self.next_boot.items()
            if name in names
            for now in [self.in_force[name]]
        )
        return (
            f"\nDevice #1:\n----------\n\nDevice: {CARD}\n\n{'Configurations:':<45}{titles}\n{rows}"
        )

    def _store(self, words: Sequence[str]) -> Answer:
        """Store settings for the next boot: mlxconfig judges all of them before it writes one."""
        values = dict(word.split("=") for word in words)
        if unknown := values.keys() - self.next_boot.keys():
            return Answer("", f"-E- The Device doesn't support {unknown.pop()} parameter\n", 3)
        self.next_boot |= {name: int(value) for name, value in values.items()}
        return Answer("Applying... Done!\n-I- Please reboot machine to load new configurations.\n")

    def _burn_copy(self, image: str, psid: str, version: str, _: str) -> Answer:
        """As the step's own script, which test_firmware_command runs in a real shell."""
        said = self._one(["mstflint", "-i", image, "query"])
        if said.returncode:
            return said
        lines = (rf"PSID:\s+{psid}\s*", rf"FW Version:\s+{version}\s*")
        if not all(re.search(f"^{line}$", said.output, re.M) for line in lines):
            return Answer("", f"{image} was changed since it was read\n", 1)
        return self._burn(image)

    def _burn(self, image: str) -> Answer:
        if image not in self.images:
            return Answer("", f'-E- Cannot open Image "{image}". No such file.\n', 1)
        psid, version = self.images[image]
        head = f"\n    Current FW version on flash:  {self.stored}\n    New FW version: {version}\n"
        if psid != self.psid:
            error = f"-E- PSID mismatch. The PSID on flash ({self.psid}) differs from the PSID in "
            return Answer(head, f"{error}the given image ({psid}).\n", 1)
        self.stored = version
        return Answer(f"{head}FSMST_INITIALIZE -   OK\n-I- To load new FW run mstfwreset.\n")

    def _reset(self) -> Answer:
        if not self.levels or min(self.levels) == 4:
            return Answer("", "-E- Reset-level 3 is not supported.\n", 1)
        self.running = self.stored
        self.resets += 1
        if not self.needs_a_boot:
            self.in_force = dict(self.next_boot)
        return Answer("-I- Sending Reset Command To Fw             -Done\n-I- FW was loaded.\n")
