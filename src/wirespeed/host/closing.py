"""What is closed at the end of a `with` statement."""

from abc import ABC, abstractmethod
from typing import Self


class Closing(ABC):
    """Base of what holds a process, a socket or a folder: `with` closes it, whatever happens."""

    @abstractmethod
    def close(self) -> None:
        """Give back what it holds; a second call does nothing."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
