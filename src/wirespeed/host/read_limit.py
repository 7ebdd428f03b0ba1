"""Reading what another says, up to a limit: a host may print without end."""


class LimitedBytes:
    """Gathers bytes until `limit`; what comes after is left out, and `cut` says so."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.cut = False
        self._bytes = bytearray()

    def __len__(self) -> int:
        return len(self._bytes)

    def add(self, chunk: bytes) -> bool:
        """Take a chunk; say whether there is room for more."""
        room = self.limit - len(self._bytes)
        self._bytes += chunk[:room]
        self.cut = self.cut or len(chunk) > room
        return not self.cut

    def bytes(self) -> bytes:
        """Give all of it."""
        return bytes(self._bytes)

    def text(self) -> str:
        """Give all of it as text; bytes that are no UTF-8 become U+FFFD."""
        return self._bytes.decode(errors="replace")
