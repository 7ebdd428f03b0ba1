"""`python -m described FOLDER`: a capture of every described host, for `make bench`."""

import sys
from collections.abc import Mapping
from pathlib import Path

from described.documents import DOCUMENTS
from described.healthy import kinds
from described.host import Host, capture_of
from described.stage import staged


def every_host() -> dict[str, Host]:
    """Healthy hosts, and those of the documents at each of their stages."""
    hosts = {name: make() for name, make in kinds().items()}
    for document, stages in DOCUMENTS.items():
        for one in staged(document, stages):
            hosts[f"{document}-{one.number:02}-{one.stage.name}"] = one.host
    return hosts


def write(folder: Path, hosts: Mapping[str, Host]) -> None:
    """Write NAME.txt for each host; the folder is made if need be."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, host in hosts.items():
        (folder / f"{name}.txt").write_text(capture_of(host))


if __name__ == "__main__":
    write(Path(sys.argv[1]), every_host())
