"""The manifest that captures nodes: valid by Kubernetes' own schemas, and its command is run."""

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml
from ansible_collection import BIN, ROOT

from wirespeed.doctor.collector import collector_script

MANIFEST = ROOT / "examples/kubernetes/capture.yaml"
VERSIONS = ("1.25", "1.31", "1.37")
"""The first and the last that the library has of those that are still run somewhere."""


def documents() -> list[dict[str, Any]]:
    return list(yaml.safe_load_all(MANIFEST.read_text()))


@pytest.mark.parametrize("version", VERSIONS)
def test_fleet_manifest_is_valid_by_the_api_and_has_no_field_that_it_does_not_know(version: str):
    assert [one["kind"] for one in documents()] == ["Namespace", "DaemonSet"]
    for one in documents():
        kubernetes_validate.validate(one, version, strict=True)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("spec", "template", "spec", "hostPID"), "yes"),
        (("spec", "template", "spec", "containers", 0, "readinesProbe"), {}),
        (("spec", "updateStrategy"), []),
    ],
)
def test_fleet_manifest_with_one_wrong_field_is_refused(path: tuple[Any, ...], value: Any):
    whole = documents()[1]
    one = whole
    for key in path[:-1]:
        one = one[key]
    one[path[-1]] = value
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(whole, VERSIONS[-1], strict=True)


def test_fleet_manifest_names_what_it_selects_and_mounts_what_it_names():
    spec = documents()[1]["spec"]
    pod = spec["template"]["spec"]
    assert spec["selector"]["matchLabels"] == spec["template"]["metadata"]["labels"]
    (container,) = pod["containers"]
    mounted = {one["name"] for one in container["volumeMounts"]}
    assert mounted == {one["name"] for one in pod["volumes"]}
    # Nothing of the node is mounted, so nothing of it can be written but by the script.
    assert not any("hostPath" in one for one in pod["volumes"])


def test_fleet_doctor_reads_what_the_manifest_s_own_command_captures(tmp_path: Path):
    (container,) = documents()[1]["spec"]["template"]["spec"]["containers"]
    (text,) = container["args"]
    # The pod's folders are here; the node is this machine, whose namespaces are entered by name.
    for folder in ("/collector", "/capture"):
        (tmp_path / folder[1:]).mkdir()
        text = re.sub(rf"(?<=[< >]){folder}/", f"{tmp_path}{folder}/", text)
    text = text.replace("nsenter -t 1 -m -u -i -n -p -- ", "").partition("while :")[0]
    (tmp_path / "collector/wirespeed-collector.sh").write_text(collector_script())
    subprocess.run([*container["command"], text], check=True, timeout=120)
    assert (tmp_path / "capture/done").exists()
    captures = tmp_path / "captures"
    captures.mkdir()
    (tmp_path / "capture/host.txt").rename(captures / "node-1.txt")
    done = subprocess.run(
        [BIN / "wirespeed", "fleet", "doctor", "--captures", captures,
         "--out", tmp_path / "out", "--database", "sqlite://"],
        capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert done.returncode in (0, 1), done.stderr
    (host,) = json.loads((tmp_path / "out/fleet.json").read_text())["hosts"]
    assert host["name"] == "node-1" and host["state"] in ("well", "with findings")
