"""A driver that was installed while the one before it still runs."""

from collections.abc import Iterator

from wirespeed.facts.firmware_driver import DriverOrigin
from wirespeed.model.command import Command
from wirespeed.model.finding import ByHand, Danger, Evidence, Finding, Remedy, Severity
from wirespeed.model.observed import Known, known, value_or_none
from wirespeed.model.rule import DoesNotApplyError, HostExam, HostRule


def _check(exam: HostExam) -> Iterator[Finding]:
    origin = exam.host[DriverOrigin]
    running = origin.loaded.get("mlx5_core")
    if running is None:
        raise DoesNotApplyError("mlx5_core is not loaded as a module")
    loaded = known(running.source_version, "which mlx5_core runs")
    installed = known(origin.installed_source_version, "which mlx5_core is installed")
    if loaded == installed or not isinstance(running.source_version, Known):
        return
    file = known(origin.installed_file, "the file of mlx5_core")
    versions = {
        "runs": value_or_none(running.version),
        "is installed": value_or_none(origin.installed_version),
    }
    named = ", ".join(f"{version} {does}" for does, version in versions.items() if version)
    # Where the kernel's package was renewed, both are its own: nothing was changed on purpose.
    is_vendors = any(folder in file for folder in ("/updates/", "/extra/", "/weak-updates/"))
    was_vendors = value_or_none(running.is_out_of_tree)
    is_renewed = was_vendors is False and not is_vendors
    yield exam.finding(
        Severity.NOTE if is_renewed else Severity.RISK,
        (
            Evidence.of(running.source_version, f"source version {loaded} runs"),
            Evidence(
                found=f"source version {installed} is installed, {file}",
                source="modinfo mlx5_core",
            ),
            *((Evidence(found=named, source="modinfo mlx5_core"),) if named else ()),
        ),
        so="the new driver starts only at the next boot",
        remedies=(
            Remedy(
                text="reboot; reloading it by hand takes the links down, and its modules may not "
                "match those that stay loaded",
                commands=(Command(argv=("reboot",)),),
                danger=Danger.REBOOT,
                by_hand=ByHand.REBOOT,
            ),
        ),
        unpriced="what the new driver changes is not known",
    )


RULE = HostRule(
    slug="driver.installed_not_running",
    title="Installed driver is not the running one",
    why="Installing a driver only writes files. The driver loaded at boot keeps running until it "
    "is unloaded or the host restarts.",
    source="https://man7.org/linux/man-pages/man8/modinfo.8.html; "
    "https://docs.kernel.org/admin-guide/abi-stable.html (/sys/module/MODULENAME/srcversion)",
    check=_check,
)
