"""Where the kernel modules of Mellanox cards come from: the kernel itself, or the vendor."""

import re
from dataclasses import dataclass
from typing import ClassVar, Self

from wirespeed.model.capture import NOT_FOUND_RETURNCODE, Capture, Files
from wirespeed.model.fact import Fact
from wirespeed.model.observed import Absent, Known, Observed, Unreadable

MODULES = (
    "mlx_compat", "mlx5_core", "mlx5_ib", "mlx4_core", "mlx4_en", "mlx4_ib", "mlxfw", "mlxdevm",
    "mlx5_fwctl", "mlx5_vdpa", "ib_core", "ib_uverbs", "ib_umad", "ib_cm", "iw_cm", "rdma_cm",
    "rdma_ucm", "ib_ipoib",
)  # fmt: skip
"""What the vendor's packages replace."""
ATTRIBUTES = ("initstate", "version", "srcversion", "taint")
SYMBOL_ERROR = re.compile(r"(disagrees about version of symbol|Unknown symbol)")
MODINFO = "modinfo mlx5_core"
OFED_INFO = "ofed_info -s"
PACKAGE = re.compile(r"[A-Za-z][A-Za-z_]{1,31}-[A-Za-z0-9.-]{1,64}")
"""`MLNX_OFED_LINUX-23.10-5.1.4.0`, and of DOCA-OFED `OFED-internal-24.07-0.3.5.0.110`."""
DMESG = "dmesg | grep -E 'disagrees about version of symbol|Unknown symbol'"


@dataclass(frozen=True, slots=True)
class LoadedModule:
    """One module that is loaded."""

    name: str
    version: Observed[str]
    """`25.07-0.9.7` of the vendor; Absent in most of the kernel's own."""
    source_version: Observed[str]
    is_out_of_tree: Observed[bool]
    """The kernel marks it with O. Unreadable before 3.17 or so, where there is no such file."""


@dataclass(frozen=True, slots=True)
class DriverOrigin(Fact):
    """The modules of the mlx stack."""

    loaded: dict[str, LoadedModule]
    """By name; empty where there is none, as where they are built into the kernel."""
    installed_file: Observed[str]
    """File that `modprobe mlx5_core` would load now."""
    installed_version: Observed[str]
    installed_source_version: Observed[str]
    symbol_errors: Observed[tuple[str, ...]]
    """Lines of the kernel log about symbols that did not fit, of these modules; newest last."""
    package: Observed[str]
    """The vendor's release as it names itself; Absent where its package is not installed."""

    @property
    def runs(self) -> str:
        """Say which mlx5_core runs: the kernel's own, or the vendor's; empty where none does."""
        running = self.loaded.get("mlx5_core")
        if running is None:
            return ""
        is_vendors, version = running.is_out_of_tree, running.version
        if not isinstance(is_vendors, Known):
            return "mlx5_core, from whom is not known"
        if not is_vendors.value:
            return "mlx5_core of the kernel"
        named = f" {version.value}" if isinstance(version, Known) else ""
        package = f" ({self.package.value})" if isinstance(self.package, Known) else ""
        return f"mlx5_core{named} of the vendor{package}"

    @property
    def is_of_kernel(self) -> bool:
        """Tell whether the mlx5_core that runs is known to be the kernel's own."""
        running = self.loaded.get("mlx5_core")
        return running is not None and running.is_out_of_tree == Known(
            False, running.is_out_of_tree.source
        )

    script: ClassVar[str] = """\
driver_files() {
	for module in MODULES; do
		[ -d "/sys/module/$module" ] || continue
		for attribute in ATTRIBUTES; do
			printf '%s\\0' "/sys/module/$module/$attribute"
		done
	done
}
driver_log() {
	dmesg | grep -E '(mlx|ib_|rdma).*(disagrees about version of symbol|Unknown symbol)' |
		tail -n 20
}
if [ -d /sys/module/mlx5_core ] || [ -d /sys/module/mlx_compat ]; then
	driver_files | files driver -
	run driver-installed - modinfo mlx5_core
	run driver-package - ofed_info -s
	show driver-log - driver_log
fi
""".replace("MODULES", " ".join(MODULES)).replace("ATTRIBUTES", " ".join(ATTRIBUTES))

    @classmethod
    def parse(cls, capture: Capture) -> Self:
        """Read /sys/module, modinfo and the kernel log; where no section is, no module is."""
        files = capture.files("driver", ATTRIBUTES)
        loaded = set(files.paths())
        installed = capture.text("driver-installed", MODINFO)
        return cls(
            loaded={
                name: _module(files, name)
                for name in MODULES
                if f"/sys/module/{name}/initstate" in loaded
            },
            installed_file=_line(installed, "filename"),
            installed_version=_line(installed, "version"),
            installed_source_version=_line(installed, "srcversion"),
            symbol_errors=_symbol_errors(capture),
            package=_package(capture),
        )


def _module(files: Files, name: str) -> LoadedModule:
    folder = f"/sys/module/{name}"
    taint = files[f"{folder}/taint"]
    return LoadedModule(
        name=name,
        version=files[f"{folder}/version"],
        source_version=files[f"{folder}/srcversion"],
        is_out_of_tree=(
            Known("O" in taint.value, taint.source) if isinstance(taint, Known) else taint
        ),
    )


def _package(capture: Capture) -> Observed[str]:
    section = capture.section("driver-package")
    if section is not None and section.returncode == NOT_FOUND_RETURNCODE:
        return Absent(OFED_INFO, "the vendor's package is not installed")
    text = capture.text("driver-package", OFED_INFO)
    if not isinstance(text, Known):
        return text
    # It ends with a colon.
    name = text.value.strip().removesuffix(":")
    if not PACKAGE.fullmatch(name):
        return Unreadable(f"{name[:40]!r} is not a release", text.source)
    return Known(name, text.source)


def _line(text: Observed[str], name: str) -> Observed[str]:
    if not isinstance(text, Known):
        return text
    match = re.search(rf"^{name}:\s*(\S+)\s*$", text.value, re.M)
    return Known(match[1], text.source) if match else Absent(text.source, f"no line {name}")


def _symbol_errors(capture: Capture) -> Observed[tuple[str, ...]]:
    section = capture.section("driver-log")
    if section is None:
        return Unreadable("the capture has no such section", DMESG)
    if section.returncode is None or section.errors.strip():
        return section.failure(DMESG)
    lines = section.output.splitlines()
    return Known(tuple(line for line in lines if SYMBOL_ERROR.search(line)), DMESG)
