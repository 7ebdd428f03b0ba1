"""An archive that somebody carried here, as a capture: a sosreport or NVIDIA's snapshot. Pure.

What it is, is known by what it holds, never by its name. Both were made at one moment, so that what
is counted between two readings is never known from them.
"""

import re
from collections.abc import Iterable, Mapping

from wirespeed.doctor.snapshot import WANTED as SNAPSHOT_FILES
from wirespeed.doctor.snapshot import snapshot_page, snapshot_sections
from wirespeed.doctor.sosreport import COMMANDS, Section, sosreport_sections
from wirespeed.doctor.sosreport import WANTED as SOSREPORT_FILES
from wirespeed.model.capture import MAGIC, VERSION
from wirespeed.model.error import InputError

MUST_GATHER = re.compile(
    r"(?:[^/]+/)?cluster-scoped-resources/config\.openshift\.io/clusterversions(?:/version)?\.yaml"
)
"""One small object of every cluster, by which a must-gather is known; the folder of an image may
stand above it: https://github.com/openshift/must-gather."""


def is_wanted(path: str) -> bool:
    """Whether a capture can use a file of an archive; or what the archive is, is known by it."""
    kinds = (SOSREPORT_FILES, SNAPSHOT_FILES, MUST_GATHER)
    return any(kind.fullmatch(path) for kind in kinds)


def archive_capture(files: Mapping[str, str], where: str) -> str:
    """Give the text of a capture. Raises InputError `capture.archive` where it is none.

    `files` by their path below the archive's top folder.
    """
    if any(path.startswith(COMMANDS) for path in files):
        return _capture("sosreport", sosreport_sections(files))
    page = snapshot_page(files)
    if page:
        return _capture("sysinfo-snapshot", snapshot_sections(files, page))
    if any(MUST_GATHER.fullmatch(path) for path in files):
        raise InputError(
            "capture.archive",
            where=where,
            found="the archive is a must-gather: it contains cluster objects, and for nodes at "
            "most names, drivers, VFs and the kernel's log, but no link settings and no counters",
            so="wirespeed cannot diagnose a host from it: nearly every condition would be "
            "undetermined",
            next="give a sosreport of the node (`oc debug node/NODE`, `chroot /host`, `toolbox`, "
            "`sos report`; or extract those that the image must-gather-sosreport makes), or run "
            "the script of `wirespeed capture --script` on the node as root and give its output",
        )
    raise InputError(
        "capture.archive",
        where=where,
        found="it is a tar archive, but neither a sosreport (it has no sos_commands) nor a "
        "sysinfo-snapshot (it has no page of one)",
        next="give a host's sosreport-….tar.xz or sysinfo-snapshot-….tgz, or extract the capture "
        "from the archive and give that",
    )


def _capture(mark: str, sections: Iterable[Section]) -> str:
    lines = [f"{MAGIC}{VERSION} {mark}"]
    for name, subject, output, errors, code in sections:
        lines += [f"{mark} begin {name} {subject or '-'}", _plain(output, mark), ""]
        if errors:
            lines[-1:] = ["", f"{mark} errors", _plain(errors, mark), ""]
        lines.append(f"{mark} end {code}")
    return "\n".join([*lines, f"{mark} done", ""])


def _plain(text: str, mark: str) -> str:
    """No line of a host may look like one of a capture's own."""
    return re.sub(rf"^{mark} ", f" {mark} ", text.removesuffix("\n"), flags=re.M)
