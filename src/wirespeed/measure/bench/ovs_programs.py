"""Where Open vSwitch with DPDK is on this machine: installed, or unpacked beside.

Debian's package starts a switch of the host when it is installed, which a measurement needs not:
`scripts/fetch-ovs-dpdk.sh` unpacks the same packages into the cache and starts nothing.
"""

from collections.abc import Sequence
from pathlib import Path

from wirespeed.host.build_cache import cache_folder
from wirespeed.host.files import is_file
from wirespeed.model.error import InputError
from wirespeed.model.frozen import Frozen

DAEMON = Path("usr/lib/openvswitch-switch-dpdk/ovs-vswitchd-dpdk")
UNPACKED = "ovs-dpdk"
"""Folder of the cache."""


class OvsPrograms(Frozen):
    """The programs of one installation, so that all are of one version."""

    root: Path

    @property
    def daemon(self) -> str:
        """The switch itself, built with DPDK."""
        return str(self.root / DAEMON)

    @property
    def database_schema(self) -> str:
        """What its database is made from."""
        return str(self.root / "usr/share/openvswitch/vswitch.ovsschema")

    @property
    def server(self) -> str:
        """The server of the database."""
        return str(self.root / "usr/sbin/ovsdb-server")

    def tool(self, name: str) -> str:
        """Give a program that is called and ends: `ovs-vsctl` and the like."""
        return str(self.root / "usr/bin" / name)


def find_ovs(roots: Sequence[Path] | None = None) -> OvsPrograms:
    """Find them. Raises InputError `dut.not_installed` with what is missing first."""
    missing = ""
    for root in roots or (Path("/"), cache_folder() / UNPACKED):
        programs = OvsPrograms(root=root)
        tools = [programs.tool(name) for name in ("ovsdb-tool", "ovs-vsctl", "ovs-ofctl")]
        wanted = [programs.daemon, programs.server, programs.database_schema, *tools]
        absent = [path for path in wanted if not is_file(Path(path))]
        if not absent:
            return programs
        missing = missing or absent[0]
    raise InputError(
        "dut.not_installed",
        where=missing,
        found="no such file: Open vSwitch with DPDK is a separate package",
        so="the switch that forwards without DPDK cannot take the tester's port",
        next="run scripts/fetch-ovs-dpdk.sh, which starts no daemon; or `apt-get install "
        "openvswitch-switch-dpdk`",
    )
