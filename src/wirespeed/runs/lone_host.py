"""A spec of one host that wants nothing of it, and says how it is reached: a journal keeps it."""

import re
from collections.abc import Sequence

from wirespeed.host.reach_destination import HERE
from wirespeed.model.spec.members import read_spec_data
from wirespeed.model.spec.spec import Spec

NO_PORT = "0000:00:00.0"
"""Where no port is asked for: a spec has to name one."""


def lone_host(reach: str, ports: Sequence[str] = (NO_PORT,)) -> Spec:
    """Give it; the host is called by what of its name a spec allows."""
    name = re.sub(r"[^a-z0-9]+", "-", reach.rpartition("@")[2].rpartition("/")[2].lower())
    return read_spec_data(
        {
            "hosts": {name.strip("-")[:32].strip("-") or HERE: {"reach": reach, "ports": ports}},
            "approach": "none",
        }
    )
