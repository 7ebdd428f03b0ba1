"""Firmware, eswitch and driver of a described Mellanox card."""

from collections.abc import Mapping, Sequence

from described.host import Host

SETTINGS = {
    "NUM_OF_VFS": "0",
    "SRIOV_EN": "False(0)",
    "PF_LOG_BAR_SIZE": "5",
    "VF_LOG_BAR_SIZE": "0",
    "NUM_PF_MSIX": "63",
    "NUM_VF_MSIX": "11",
    "CQE_COMPRESSION": "BALANCED(0)",
    "LINK_TYPE_P1": "ETH(2)",
    "LINK_TYPE_P2": "ETH(2)",
}
"""As a ConnectX-5 comes; some of some eighty."""
MODULES = ("mlx5_core", "mlx5_ib", "mlxfw", "ib_core", "ib_uverbs")


def firmware(
    host: Host,
    addresses: Sequence[str],
    *,
    settings: Mapping[str, str] | None = None,
    next_boot: Mapping[str, str] | None = None,
    version: str = "16.35.4506",
    stored: str | None = None,
    board_id: str = "MT_0000000008",
    driver: str = "mlx5_core",
) -> None:
    """What devlink and mstconfig tell. `settings` None: mstconfig is not installed.

    `next_boot` holds what was set and waits for a reset.
    """
    info = host.data.setdefault("devlink -j dev info", {"info": {}})
    host.data.setdefault("devlink -j health show", {"health": {}})
    for address in addresses:
        info["info"][f"pci/{address}"] = {
            "driver": driver,
            "versions": {
                "fixed": {"fw.psid": board_id},
                "running": {"fw.version": version, "fw": version},
                "stored": {"fw.version": stored or version, "fw": stored or version},
            },
        }
    if settings is None:
        return
    current = {**SETTINGS, **settings}
    rows = ""
    for name, default in SETTINGS.items():
        now = current[name]
        later = {**current, **(next_boot or {})}[name]
        mark = "*" if len({default, now, later}) > 1 else " "
        rows += f"{mark}        {name:<28}{default:<16}{now:<16}{later:<16}\n"
    host.answer(
        f"mstconfig -d {addresses[0]} -e q",
        "\nDevice #1:\n----------\n\nDevice type:    ConnectX5\nName:           MCX516A-CDA_Ax_Bx\n"
        f"Description:    ConnectX-5 Ex EN adapter card\nDevice:         {addresses[0]}\n\n"
        f"Configurations:                      Default         Current         Next Boot\n{rows}"
        "The '*' shows parameters with next value different from default/current value.\n",
    )


def mlx5_eswitch(
    host: Host, addresses: Sequence[str], mode: str = "legacy", lag: str | None = "disabled"
) -> None:
    """`devlink dev eswitch show` of each, and the state of hardware LAG in debugfs.

    `lag` None: debugfs cannot be read, as without root.
    """
    steering(host, addresses)
    for address in addresses:
        device = {"mode": mode, "inline-mode": "none", "encap-mode": "basic"}
        host.data[f"devlink -j dev eswitch show pci/{address}"] = {
            "dev": {f"pci/{address}": device}
        }
        folder = f"/sys/kernel/debug/mlx5/{address}/lag"
        if lag is None:
            host.denied.add(folder)
            continue
        host.put(folder, state=lag, type="switchdev" if lag == "active" else "",
                 port_sel_mode="queue_affinity" if lag == "active" else "", members="")  # fmt: skip


def steering(host: Host, addresses: Sequence[str], mode: str | None = "smfs") -> None:
    """`devlink dev param show` of who writes the rules; None: the driver has no such parameter."""
    for address in addresses:
        line = f"devlink -j dev param show pci/{address} name flow_steering_mode"
        if mode is None:
            host.data.pop(line, None)
            host.answer(line, errors="kernel answers: Invalid argument\n", returncode=1)
            continue
        values = [{"cmode": "runtime", "value": mode}]
        param = {"name": "flow_steering_mode", "type": "driver-specific", "values": values}
        host.data[line] = {"param": {f"pci/{address}": [param]}}


def no_eswitch(host: Host, addresses: Sequence[str]) -> None:
    """A driver whose devices have no eswitch that devlink could show."""
    steering(host, addresses, None)
    for address in addresses:
        errors = "kernel answers: Operation not supported\n"
        host.answer(f"devlink -j dev eswitch show pci/{address}", errors=errors, returncode=1)
    host.data.setdefault("devlink -j dev info", {"info": {}})
    host.data.setdefault("devlink -j health show", {"health": {}})


def module_of_kernel(host: Host, release: str) -> None:
    """mlx5_core of the kernel itself."""
    for name in MODULES:
        host.put(f"/sys/module/{name}", initstate="live", srcversion=f"A0{len(name)}", taint="")
    host.answer(
        "modinfo mlx5_core",
        f"filename:       /lib/modules/{release}/kernel/drivers/net/ethernet/mellanox/mlx5/core/"
        "mlx5_core.ko.xz\nlicense:        Dual BSD/GPL\nsrcversion:     A09\n",
    )


def module_of_vendor(host: Host, release: str, version: str) -> None:
    """The same of the vendor's package, as `doca-networking` installs it."""
    for name in (*MODULES, "mlx_compat"):
        host.put(f"/sys/module/{name}", initstate="live", srcversion=f"B0{len(name)}", taint="OE",
                 version=version)  # fmt: skip
    host.answer(
        "modinfo mlx5_core",
        f"filename:       /lib/modules/{release}/updates/dkms/mlx5_core.ko.xz\n"
        f"version:        {version}\nlicense:        Dual BSD/GPL\nsrcversion:     B09\n",
    )


def not_installed_yet(host: Host, release: str, version: str) -> None:
    """The vendor's modules lie on the disk; those of the kernel run until the next boot."""
    before = {path: text for path, text in host.files.items() if path.startswith("/sys/module/")}
    module_of_vendor(host, release, version)
    for path in [path for path in host.files if path.startswith("/sys/module/")]:
        del host.files[path]
    host.files.update(before)
