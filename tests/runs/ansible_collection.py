"""The collection where Ansible finds it, and a program `wirespeed` that runs these sources."""

import os
import shutil
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
BIN = Path(sys.executable).parent


def environment(folder: Path, *, copied: bool = False) -> dict[str, str]:
    """Put the collection below `folder`, and the program into it; give Ansible's environment.

    `copied`: ansible-test takes no link, and needs a collection that git has.
    """
    place = folder / "ansible_collections/wirespeed/wirespeed"
    place.parent.mkdir(parents=True)
    if copied:
        shutil.copytree(ROOT / "ansible", place)
    else:
        place.symlink_to(ROOT / "ansible")
    program = folder / "wirespeed"
    paths = ":".join(filter(None, sys.path))
    program.write_text(
        f"#!/bin/sh\nPYTHONPATH='{paths}' exec {sys.executable} -c "
        "'from wirespeed.cli import main; main()' \"$@\"\n"
    )
    program.chmod(0o755)
    return {
        **os.environ,
        "ANSIBLE_COLLECTIONS_PATH": str(folder),
        "ANSIBLE_HOME": str(folder / "home"),
        "ANSIBLE_NOCOLOR": "1",
        "LC_ALL": "C.UTF-8",
    }
