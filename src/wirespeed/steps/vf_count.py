"""How many VFs a PF has."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from wirespeed.model.capture import Section
from wirespeed.model.command import Command, write_file
from wirespeed.model.finding import Danger
from wirespeed.model.names import PciAddress
from wirespeed.model.observed import Observed
from wirespeed.model.step import Phase, Scope, State, Step
from wirespeed.steps.readings import number, state_of

LAG_S = 60
"""For a bond's both ports to have their link, and the driver to join them."""
AWAIT_LAG = (
    f'for second in $(seq {LAG_S}); do state=$(cat "$0") || exit; '
    '[ "$state" = active ] && exit; sleep 1; done; '
    f'echo "VF-LAG is $state after {LAG_S} s, not active: VFs made now would not fail over" >&2; '
    "exit 1"
)
"""Argument 0 is the file; where it cannot be read, `cat` says why."""
UNSHOWN_LAG_S = 10
"""Without a file that shows it: mlx5 joins the ports within a second of the bond's last change
(mlx5_do_bond_work is tried again each second)."""
UDEV_S = 30


class VfCount(Step):
    """The PF has so many VFs.

    From one number to another the kernel goes through none, so VFs that are there are made anew:
    their netdevs, drivers and settings (MAC, VLAN, …) are lost, and a guest loses its VF. Undo
    brings the number back; what else the former VFs were is for the steps that had set it.
    More than the card offers, the kernel refuses. Some drivers (igb, ixgbe) reset the port.

    `sriov_drivers_autoprobe` is for another step: since Linux 5.3 `driver_override` binds with
    either value of it.
    """

    scope: ClassVar[Scope] = Scope.BOOT
    danger: ClassVar[Danger] = Danger.DROPS_LINK
    makes: ClassVar[bool] = True
    purpose: ClassVar[str] = (
        "A guest that owns a VF reaches the card without the host's CPU; "
        "VFs that exist already are made again, without their settings."
    )
    phase: ClassVar[Phase | None] = Phase.FUNCTIONS
    step: Literal["vf_count"] = "vf_count"
    pci_address: PciAddress
    num_vfs: Annotated[int, Field(ge=0, le=65535)]
    lag_of: PciAddress | None = None
    """PF of mlx5 whose VF-LAG must be active before there are VFs: those made sooner stay with
    their port. None: nothing is awaited."""
    is_lag_shown: bool = True
    """False: a kernel before 5.19 does not say whether VF-LAG is active: seconds are waited."""
    has_representors: bool = False
    """In switchdev mode: udev names them before the next step."""

    @property
    def subject(self) -> str:
        return self.pci_address

    @property
    def why(self) -> str:
        """Say what is not verified where this kernel does not show it."""
        if self.lag_of is None or self.is_lag_shown or not self.num_vfs:
            return self.purpose
        return (
            f"{self.purpose} That VF-LAG is active is not verified: Linux before 5.19 does not "
            f"show it, so {UNSHOWN_LAG_S} s are waited; `dmesg` then has a line `lag map`."
        )

    @property
    def _path(self) -> str:
        return f"/sys/bus/pci/devices/{self.pci_address}/sriov_numvfs"

    def read(self) -> Command:
        return Command(argv=("cat", self._path))

    def parse(self, section: Section) -> Observed[State]:
        """Give the number; unreadable where the function has no SR-IOV."""
        return state_of(section, self.read(), lambda text: {"num_vfs": number(text)})

    def wanted(self, before: State) -> State:
        return {"num_vfs": self.num_vfs}

    def commands(self, now: State, to: State) -> tuple[Command, ...]:
        """Write the number, after 0 where there are others: sriov_numvfs_store() refuses else."""
        numbers = [to["num_vfs"]] if 0 in (now["num_vfs"], to["num_vfs"]) else [0, to["num_vfs"]]
        commands = []
        for count in numbers:
            if count and self.lag_of is not None and not self.is_lag_shown:
                commands.append(Command(argv=("sleep", str(UNSHOWN_LAG_S))))
            elif count and self.lag_of is not None:
                path = f"/sys/kernel/debug/mlx5/{self.lag_of}/lag/state"
                commands.append(Command(argv=("sh", "-c", AWAIT_LAG, path)))
            commands.append(write_file(self._path, str(count)))
        if self.has_representors:
            commands.append(Command(argv=("udevadm", "settle", f"--timeout={UDEV_S}")))
        return tuple(commands)
