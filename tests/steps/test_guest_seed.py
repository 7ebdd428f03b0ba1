"""The seed of a virtual machine is written, read back, and taken away with its folders."""

import json
import os
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import yaml
from described_files import DescribedFiles
from proof import Answer, plan_on, prove
from pydantic import ValidationError
from samples import reason_of, section_of

from wirespeed.model.command import Command
from wirespeed.steps.guest_seed import MANAGED, REMOVE, GuestSeed

KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAINbVBC67eWFEdo1bStFUdU8ji6Qfi5CV4X wirespeed"
STEP = GuestSeed(guest="gpu-1", authorized_keys=(KEY,), mac="02:11:22:33:44:55")
FOLDER = "/run/wirespeed/guests/gpu-1/seed"
FOLDERS = ("/run/wirespeed", "/run/wirespeed/guests", "/run/wirespeed/guests/gpu-1", FOLDER)
GOAL = {
    f"{FOLDER}/meta-data": "instance-id: gpu-1\nlocal-hostname: gpu-1\ndsmode: local\n",
    f"{FOLDER}/user-data": (
        "#cloud-config\n"
        "disable_root: false\n"
        "ssh_deletekeys: true\n"
        f'ssh_authorized_keys:\n  - "{KEY}"\n'
        "write_files:\n"
        '  - {"path": "/etc/systemd/network/04-wirespeed.network", '
        '"content": "[Match]\\nMACAddress=02:11:22:33:44:55\\n\\n[Network]\\n'
        'Address=10.0.2.15/24\\n"}\n'
        '  - {"path": "/etc/NetworkManager/conf.d/05-wirespeed.conf", '
        '"content": "[keyfile]\\nunmanaged-devices=*\\n"}\n'
        '  - {"path": "/etc/systemd/network/05-wirespeed.network", '
        '"content": "[Match]\\nName=*\\n\\n[Link]\\nUnmanaged=yes\\n"}\n'
        f"bootcmd:\n  - {json.dumps(['sh', '-c', MANAGED, '10.0.2.15/24', '02:11:22:33:44:55'])}\n"
        'runcmd:\n  - ["sh", "-c", "echo \\"wirespeed-host-key: $(cut -d\\" \\" -f1,2 '
        '/etc/ssh/ssh_host_ed25519_key.pub)\\" >/dev/ttyS0"]\n'
    ),
    f"{FOLDER}/network-config": "config: disabled\n",
    f"{FOLDER}/authorized_keys": f"{KEY}\n",
}


@dataclass
class DescribedFolders(DescribedFiles):
    """Files in folders, which mkdir makes and rmdir removes where they are empty."""

    folders: set[str] = field(default_factory=set)

    def run(self, command: Command) -> Answer:
        match command.argv:
            case ("install", "-D", "-m", "600", "/proc/self/fd/0", path):
                self.files[path] = f"{command.stdin}\n"
                while (path := path.rpartition("/")[0]) != "/run":
                    self.folders.add(path)
                return Answer()
            case ("sh", "-c", script, folder, *paths) if script == REMOVE:
                for path in paths:
                    self.files.pop(path, None)
                for path in (f"{folder}/seed", folder, *reversed(FOLDERS[:2])):
                    inside = [*self.files, *(self.folders - {path})]
                    if not any(one.startswith(f"{path}/") for one in inside):
                        self.folders.remove(path)
                return Answer()
            case _:
                return super().run(command)


def test_it_is_written_and_goes_with_its_folders():
    prove(STEP, DescribedFolders(), DescribedFolders(dict(GOAL), folders=set(FOLDERS)))


def test_folders_that_others_use_stay():
    others = {"/run/wirespeed/guests/ceph-1/seed/meta-data": "x\n"}
    folders = {*FOLDERS[:2], "/run/wirespeed/guests/ceph-1", "/run/wirespeed/guests/ceph-1/seed"}
    start = DescribedFolders(dict(others), folders=folders)
    prove(STEP, start, DescribedFolders(others | GOAL, folders={*folders, *FOLDERS}))


def test_what_stood_there_comes_back():
    former = GOAL | {f"{FOLDER}/meta-data": "instance-id: other\n"}
    start = DescribedFolders(former, folders=set(FOLDERS))
    prove(STEP, start, DescribedFolders(dict(GOAL), folders=set(FOLDERS)))


@pytest.mark.parametrize("name", ["no", "on", "y", "007", "1e3", "12", "null", "1-2-3", "node-1"])
def test_the_guests_name_is_text_for_cloud_init(name: str):
    """It reads YAML 1.1 with PyYAML (cloudinit/util.py, load_yaml)."""
    seed = STEP.model_copy(update={"guest": name}).files()["meta-data"]
    assert yaml.safe_load(seed) == {
        "instance-id": name,
        "local-hostname": name,
        "dsmode": "local",
    }


def test_cloud_init_does_not_look_up_two_vfs_of_one_mac_address():
    """`duplicate mac found!` of cloudinit/net/__init__.py: no module runs, and nobody gets in."""
    files = STEP.files()
    # is_disabled_cfg(): the stage that sets up the network returns before it lists netdevs.
    assert yaml.safe_load(files["network-config"]).get("config") == "disabled"
    user = yaml.safe_load(files["user-data"])
    written = {file["path"]: file["content"] for file in user["write_files"]}
    own = written["/etc/systemd/network/04-wirespeed.network"]
    assert f"MACAddress={STEP.mac}" in own and "Address=10.0.2.15/24" in own
    # networkd takes the first file that matches; netplan's are 10- and 90-.
    assert "Unmanaged=yes" in written["/etc/systemd/network/05-wirespeed.network"]
    assert "unmanaged-devices=*" in written["/etc/NetworkManager/conf.d/05-wirespeed.conf"]


def test_the_guest_gives_its_address_to_its_management_port_alone(tmp_path: Path):
    user = yaml.safe_load(STEP.files()["user-data"])
    ((shell, option, script, *arguments),) = user["bootcmd"]
    macs = {"ens8": "02:00:00:00:00:01", "ens9": "02:00:00:00:00:01", "ens2": STEP.mac}
    for name, mac in macs.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "address").write_text(f"{mac}\n")
    script = script.replace("/sys/class/net", str(tmp_path))
    (tmp_path / "ip").write_text(f'#!/bin/sh\necho "$*" >>{tmp_path}/done\n')
    (tmp_path / "ip").chmod(0o755)
    (tmp_path / "udevadm").symlink_to("/bin/true")
    path = {"PATH": f"{tmp_path}:{os.environ['PATH']}"}
    subprocess.run([f"/bin/{shell}", option, script, *arguments], env=path, check=True, timeout=60)
    assert (tmp_path / "done").read_text().splitlines() == [
        "link set dev ens2 up",
        "address add 10.0.2.15/24 dev ens2",
    ]


def test_nothing_in_it_is_secret():
    text = "".join(c.line() for c in plan_on(STEP, DescribedFolders()).steps[0].commands)
    assert "PRIVATE" not in text and KEY in text


def test_a_folder_that_cannot_be_read_is_not_an_empty_one():
    denied = f"grep: {FOLDER}/meta-data: Permission denied\n"
    assert "Permission denied" in reason_of(STEP, section_of("", denied, 2))


@pytest.mark.parametrize("key", ["", "ssh-ed25519", "ssh-ed25519 AAAA\nx", 'a b"', "-----BEGIN"])
def test_a_key_is_one_line_of_its_alphabet(key: str):
    with pytest.raises(ValidationError):
        GuestSeed(guest="gpu-1", authorized_keys=(key,), mac="02:11:22:33:44:55")


@pytest.mark.parametrize("guest", ["", "..", "a/b", "-x", "A"])
def test_a_guest_is_named_safely(guest: str):
    with pytest.raises(ValidationError):
        GuestSeed(guest=guest, authorized_keys=(KEY,), mac="02:11:22:33:44:55")
