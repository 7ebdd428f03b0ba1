"""The page about two hosts: its spec is taken as it stands, and names every field there is."""

import re
from pathlib import Path

from wirespeed.apply.spec_file import parse_spec
from wirespeed.model.spec.members import HostsOnly
from wirespeed.model.spec.settings import TuningSpec

PAGE = (Path(__file__).parents[1] / "docs/two-hosts.md").read_text()


def test_the_spec_on_the_page_is_taken_and_says_all_that_can_be_tuned():
    block = re.search(r"    # hosts.yaml\n((?:    .*\n)+)", PAGE)
    assert block
    spec = parse_spec("\n".join(line[4:] for line in block[1].splitlines()), "hosts.yaml")
    assert isinstance(spec, HostsOnly)
    assert spec.tuning == TuningSpec(rings="largest", channels=2, pause=False)
    for field in TuningSpec.model_fields:
        assert f"`tuning.{field}" in PAGE
