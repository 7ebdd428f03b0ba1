"""A host's capture with the sections of the switch at the far end of its cables. Pure."""

import re

from wirespeed.model.capture import HEADER, MAX_PREAMBLE_CHARACTERS, parse_capture


def with_far_end(host: str, switch: str) -> str:
    """Give one capture of both: the switch's sections under the host's mark.

    Raises InputError `capture.*` where one of them is none. A capture that was cut off stays so.
    """
    for text, name in ((host, "the host"), (switch, "the far end")):
        parse_capture(text, name)
    ours, theirs = _mark(host), _mark(switch)
    body = switch[theirs.end() :].replace("\r\n", "\n")
    body = re.sub(rf"^{re.escape(theirs[2])} done\s*\Z", "", body, flags=re.M)
    body = re.sub(rf"^{re.escape(theirs[2])} ", f"{ours[2]} ", body, flags=re.M)
    # Before the host's own sections: what was cut off at its end is still seen to be.
    at = ours.end()
    return host[:at] + body + host[at:]


def _mark(text: str) -> re.Match[str]:
    found = HEADER.search(text[:MAX_PREAMBLE_CHARACTERS])
    if found is None:
        raise AssertionError("it was parsed as a capture")
    return found
