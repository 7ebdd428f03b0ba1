"""The driver of an ESXi host makes no VFs, though guests are to have some."""

from collections.abc import Iterator

from wirespeed.model.command import Command
from wirespeed.model.finding import ByHand, Danger, Evidence, Finding, Remedy, Severity
from wirespeed.model.observed import Known, known
from wirespeed.model.question import Purpose
from wirespeed.model.rule import DoesNotApplyError, HostExam, HostRule
from wirespeed.platforms.esxi.facts.esxi_module import MODULE, EsxiModule
from wirespeed.platforms.esxi.facts.esxi_ports import EsxiPorts
from wirespeed.platforms.esxi.facts.vsphere import is_esxi


def _check(exam: HostExam) -> Iterator[Finding]:
    if not is_esxi(exam.host.capture):
        raise DoesNotApplyError("it is not an ESXi host")
    ports = known(exam.host[EsxiPorts].ports, "the ports of the host")
    mine = [p for p in ports.values() if isinstance(p.driver, Known) and p.driver.value == MODULE]
    if not mine:
        raise DoesNotApplyError(f"no port of it is driven by {MODULE}")
    vfs = exam.host[EsxiModule].numbers("max_vfs")
    numbers = known(vfs, "max_vfs of the driver")
    if any(numbers) or not isinstance(vfs, Known):
        return
    wanted = ",".join("1" for _ in mine)
    parameters = exam.host[EsxiModule].parameters
    kept = parameters.value if isinstance(parameters, Known) else {}
    all_ = {name: value for name, value in kept.items() if value} | {"max_vfs": wanted}
    yield exam.finding(
        Severity.RISK,
        (
            Evidence.of(vfs, f"max_vfs is {','.join(map(str, numbers)) or 'not set'}"),
            Evidence(
                found=f"{', '.join(port.name for port in mine)} driven by {MODULE}",
                source="esxcli network nic list",
            ),
        ),
        so="no guest has direct access to these ports: all guest traffic goes through the "
        "virtual switch",
        remedies=(
            Remedy(
                text="set one VF per guest on each port, with at least as many in the firmware's "
                "NUM_OF_VFS (mlxconfig, SRIOV_EN=1); then restart the host. With `approach: "
                "esxi` in a spec, `wirespeed apply` does this, keeps the other parameters, "
                "and can undo it. Typed by hand, the command replaces all parameters, so it "
                "includes those that are set now",
                commands=(
                    Command(
                        argv=(
                            "esxcli",
                            "system",
                            "module",
                            "parameters",
                            "set",
                            "-m",
                            MODULE,
                            "-p",
                            " ".join(f"{n}={v}" for n, v in sorted(all_.items())),
                        ),
                    ),
                ),
                danger=Danger.REBOOT,
                by_hand=ByHand.REBOOT,
            ),
        ),
        unpriced="the cost depends on the virtual switch: measure it",
    )


RULE = HostRule(
    slug="esxi.no_vfs",
    title="No VFs created for guests (ESXi)",
    why="When the host starts, nmlx5_core creates as many VFs per port as max_vfs says. In the "
    "report, a guest of ESXi with one VF for each port forwarded 94 to 100 % of 2 x 25 Gb/s.",
    source="DPDK 19.08 Mellanox NIC performance report, test 5; NVIDIA ConnectX-4/5 native ESXi "
    "driver user manual, module parameters",
    purposes=frozenset({Purpose.GUESTS}),
    check=_check,
)
