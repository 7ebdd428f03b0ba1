"""Prints debian/copyright with every Python package that is in the Debian package, and its licence.

python tools/deb_copyright.py SITE_PACKAGES
"""

import re
import sys
from collections.abc import Iterator
from importlib.metadata import Distribution, distributions
from pathlib import Path

OWN = Path(__file__).parent.parent / "debian/copyright"
APACHE = re.compile(r"(?s)Apache License\s+Version 2\.0, January 2004.*END OF TERMS AND CONDITIONS")
KEPT_BY_DEBIAN = "Apache License 2.0: on Debian systems in /usr/share/common-licenses/Apache-2.0."
HOLDER = re.compile(r"^\W*copyright\s*(?:\(c\)|©)?\s*:?\s*(.*\d{4}.*)$", re.I | re.M)


def stanzas(folder: Path) -> Iterator[str]:
    """Give one stanza for each package but wirespeed. Raises ValueError without a licence."""
    for one in sorted(distributions(path=[str(folder)]), key=lambda d: d.name.lower()):
        if one.name == "wirespeed":
            continue
        texts = licence_texts(one)
        if not texts:
            raise ValueError(f"{one.name}: its wheel has no text of a licence")
        whole = APACHE.sub(KEPT_BY_DEBIAN, "\n\n".join(texts))
        holders = dict.fromkeys(match.strip() for match in HOLDER.findall(whole))
        named = "\n ".join(holders) or f"the authors of {one.name}"
        tops = sorted({str(path).split("/")[0] for path in one.files or () if "/" in str(path)})
        files = "\n ".join(f"usr/lib/wirespeed/*/{top}/*" for top in tops if top != "..")
        body = "\n".join(
            f" {line.rstrip()}" if line.strip() else " ." for line in whole.split("\n")
        )
        yield f"Files: {files}\nCopyright: {named}\nLicense: {one.name}\n{body}\n"


def licence_texts(one: Distribution) -> list[str]:
    """Give the texts of the licences that a package's wheel has."""
    names = re.compile(r"(^|/)(LICEN[CS]E|COPYING|COPYRIGHT|NOTICE)[^/]*$", re.I)
    paths = [path for path in one.files or () if ".dist-info/" in str(path)]
    return [
        Path(str(path.locate())).read_text(errors="replace").strip()
        for path in paths
        if names.search(str(path))
    ]


if __name__ == "__main__":
    print(OWN.read_text().rstrip())
    for stanza in stanzas(Path(sys.argv[1])):
        print(f"\n{stanza.rstrip()}")
