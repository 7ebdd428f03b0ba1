"""What carries the library's requests to an ESXi host: its answers are bounded, and not packed."""

from http.client import HTTPException, HTTPResponse
from typing import Any, cast

from pyVmomi import SoapAdapter

MAX_ANSWER_BYTES = 4 << 20
"""Of one answer, which is about one property: all settings of a guest have some 100 kB. The library
keeps 300 bytes for each tag, and takes the square of a text's length."""


class BoundedResponse(HTTPResponse):
    """An answer of HTTP that ends after so many bytes."""

    taken_bytes = 0

    def read(self, amt: int | None = None) -> bytes:
        """Read as HTTPResponse does. Raises HTTPException where the answer is too long."""
        left = MAX_ANSWER_BYTES + 1 - self.taken_bytes
        data = super().read(left if amt is None else min(amt, left))
        self.taken_bytes += len(data)
        if self.taken_bytes > MAX_ANSWER_BYTES:
            raise HTTPException(f"its answer has more than {MAX_ANSWER_BYTES >> 20} MiB")
        return data

    def getheader(self, name: str, default: Any = None) -> Any:
        """Give a header. Raises HTTPException for a packed answer, which none was asked for."""
        found = super().getheader(name, default)
        if name.lower() == "content-encoding" and found not in (None, "identity"):
            raise HTTPException(f"its answer is packed: {found}")
        return found


class BoundedStub(SoapAdapter.SoapStubAdapter):
    """The library's own, with answers that are bounded."""

    def __init__(self, **options: Any) -> None:
        cast(Any, super()).__init__(acceptCompressedResponses=False, **options)

    def GetConnection(self) -> Any:  # noqa: N802
        """Give a connection whose answers are bounded."""
        connection = cast(Any, super()).GetConnection()
        connection.response_class = BoundedResponse
        return connection
