"""The model of a ConnectX that QEMU loads for a host: built by scripts/build-mlx5-model.sh.

    cache/mlx5-model-<version of QEMU>/mlx5.so

It is code of its own under another licence (models/mlx5/LICENSE), so that no package carries it.
"""

import re
from pathlib import Path

from wirespeed.host.build_cache import cache_folder
from wirespeed.host.local import LocalRunner
from wirespeed.host.runner import Runner
from wirespeed.lab.machine_qemu import PROGRAM
from wirespeed.model.error import InputError

BUILDER = "scripts/build-mlx5-model.sh"
_ASK_S = 10.0


def with_model(runner: Runner | None = None) -> tuple[str, ...]:
    """Give what stands before QEMU's command. Raises InputError `lab.no_model`.

    Only QEMU itself may load it: no program that starts QEMU has what it links to.
    """
    return ("env", f"LD_PRELOAD={_model(runner or LocalRunner())}")


def _model(runner: Runner) -> Path:
    told = runner.run([PROGRAM, "--version"], timeout_s=_ASK_S).output
    match = re.match(r"QEMU emulator version (\d+\.\d+\.\d+)", told)
    version = match[1] if match else "of an unknown version"
    model = cache_folder() / f"mlx5-model-{version}" / "mlx5.so"
    if not model.is_file():
        raise InputError(
            "lab.no_model",
            where=str(model),
            found=f"no model of the card for QEMU {version}",
            so="QEMU has no ConnectX of its own",
            next=f"run {BUILDER} in a clone of wirespeed",
        )
    return model
