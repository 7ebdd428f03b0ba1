"""What a virtual machine is told at its first boot: cloud-init's NoCloud files, on its host."""

import json
import re
from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from wirespeed.model.capture import Section
from wirespeed.model.command import Command
from wirespeed.model.observed import Absent, Known, Observed, Unreadable
from wirespeed.model.spec.names import AuthorizedKey
from wirespeed.model.step import Scope, State, Step
from wirespeed.steps.guest_machine import HOST_KEY, ROOT, GuestName, guest_folder
from wirespeed.steps.readings import files_of

NAMES = ("meta-data", "user-data", "network-config", "authorized_keys")
REMOVE = (
    'rm -f "$@" && rmdir --ignore-fail-on-non-empty "$0/seed" "$0" '
    f"{ROOT} {ROOT.rpartition('/')[0]}"
)
PLAIN = re.compile(r"(?!(?:y|n|yes|no|on|off|true|false|null)\Z)[a-z].*")
"""Names that are text without quotes: cloud-init reads YAML 1.1, where `no` and `007` are not."""
TELL = f'echo "{HOST_KEY} $(cut -d" " -f1,2 /etc/ssh/ssh_host_ed25519_key.pub)" >/dev/ttyS0'

ADDRESS = "10.0.2.15/24"
"""What QEMU forwards to unless told else, and its DHCP would give (qemu(1), `-netdev user`)."""
MANAGED = (
    "udevadm settle --timeout=30; for try in $(seq 30); do "
    "for file in /sys/class/net/*/address; do "
    'if grep -qx "$1" "$file"; then netdev=${file%/address} netdev=${netdev##*/}; '
    'ip link set dev "$netdev" up; exec ip address add "$0" dev "$netdev"; fi; '
    "done; sleep 1; done"
)
LEFT_ALONE = {
    "/etc/NetworkManager/conf.d/05-wirespeed.conf": "[keyfile]\nunmanaged-devices=*\n",
    "/etc/systemd/network/05-wirespeed.network": "[Match]\nName=*\n\n[Link]\nUnmanaged=yes\n",
}
"""What the guest's own network programs read when they start: they would ask for addresses by its
VFs, and take away what is set up from outside."""


class GuestSeed(Step):
    """The folder of the guest's seed has these files: its name, who may log in, its one address.

    There is no secret in them: the guest makes its host key itself, and tells its public half over
    its serial console. The networks that it is for are set up from outside, step by step.

    cloud-init is to set up no network: it lists all netdevs by MAC address, and ends with
    `duplicate mac found!` in a guest that has two VFs of one (get_interfaces_by_mac_on_linux),
    before it lets anybody in. It does the rest before NetworkManager and networkd start (`dsmode`).
    Source: cloud-init's reference of the NoCloud data source, and its sources.
    """

    scope: ClassVar[Scope] = Scope.GUEST
    makes: ClassVar[bool] = True
    purpose: ClassVar[str] = (
        "The guest takes its name from it, and lets wirespeed in, as root, through its host alone."
    )
    step: Literal["guest_seed"] = "guest_seed"
    guest: GuestName
    authorized_keys: Annotated[tuple[AuthorizedKey, ...], Field(min_length=1)]
    mac: Annotated[str, Field(pattern=r"^[0-9a-f]{2}(:[0-9a-f]{2}){5}$")]
    """Of its management port."""

    @property
    def subject(self) -> str:
        return f"{guest_folder(self.guest)}/seed"

    def files(self) -> Mapping[str, str]:
        """Give every file's content by its name."""
        name = self.guest if PLAIN.fullmatch(self.guest) else json.dumps(self.guest)
        keys = "".join(f"  - {json.dumps(key)}\n" for key in self.authorized_keys)
        return {
            "meta-data": f"instance-id: {name}\nlocal-hostname: {name}\ndsmode: local\n",
            # JSON is YAML: what is quoted there is quoted here.
            "user-data": (
                "#cloud-config\n"
                "disable_root: false\n"
                "ssh_deletekeys: true\n"
                f"ssh_authorized_keys:\n{keys}"
                f"write_files:\n{self._network_files()}"
                f"bootcmd:\n  - {json.dumps(['sh', '-c', MANAGED, ADDRESS, self.mac])}\n"
                f"runcmd:\n  - {json.dumps(['sh', '-c', TELL])}\n"
            ),
            "network-config": "config: disabled\n",
            "authorized_keys": "".join(f"{key}\n" for key in self.authorized_keys),
        }

    def _network_files(self) -> str:
        own = f"[Match]\nMACAddress={self.mac}\n\n[Network]\nAddress={ADDRESS}\n"
        files = {"/etc/systemd/network/04-wirespeed.network": own, **LEFT_ALONE}
        rows = ({"path": path, "content": content} for path, content in files.items())
        return "".join(f"  - {json.dumps(row)}\n" for row in rows)

    def read(self) -> Command:
        return Command(argv=("grep", "-H", "", *self._paths()))

    def parse(self, section: Section) -> Observed[State]:
        """Give every file's content; None where it is not there."""
        source = self.read().line()
        files = files_of(section, NAMES)
        state: State = {}
        for name, path in zip(NAMES, self._paths(), strict=True):
            found = files[path]
            if isinstance(found, Known):
                state[name] = found.value.removesuffix("\n") + "\n"
            elif isinstance(found, Absent):
                state[name] = None
            else:
                return Unreadable(f"{path}: {found.reason}", source)
        return Known(state, source)

    def made(self) -> State:
        return dict.fromkeys(NAMES)

    def wanted(self, before: State) -> State:
        return dict(self.files())

    def commands(self, now: State, to: State) -> tuple[Command, ...]:
        """Write what differs; remove what shall not be there, and the folder with the last one."""
        changed = [name for name in NAMES if now[name] != to[name]]
        if not changed:
            return ()
        if not any(to.values()):
            paths = (f"{self.subject}/{name}" for name in changed)
            return (Command(argv=("sh", "-c", REMOVE, guest_folder(self.guest), *paths)),)
        commands = []
        for name in changed:
            path, content = f"{self.subject}/{name}", to[name]
            if content is None:
                commands.append(Command(argv=("rm", "-f", path)))
            else:
                text = str(content).removesuffix("\n")
                write = ("install", "-D", "-m", "600", "/proc/self/fd/0", path)
                commands.append(Command(argv=write, stdin=text))
        return tuple(commands)

    def _paths(self) -> tuple[str, ...]:
        return tuple(f"{self.subject}/{name}" for name in NAMES)
