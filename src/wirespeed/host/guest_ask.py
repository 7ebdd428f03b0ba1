"""Asks what one of the other programs does in the background.

python3 -I - NAME QUERY <this     prints one line of JSON
"""

import socket
import sys


def main() -> None:
    """Ask, and print the answer."""
    name, query = sys.argv[1:]
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as asked:
        asked.settimeout(10.0)
        asked.connect("\0" + name)
        asked.sendall(query.encode() + b"\n")
        while chunk := asked.recv(1 << 16):
            sys.stdout.write(chunk.decode())


if __name__ == "__main__":
    main()
