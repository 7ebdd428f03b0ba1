"""A host that is described by its files; a subclass gives those of the kernel their rules."""

from dataclasses import dataclass, field

from proof import Answer, UnknownCommandError

from wirespeed.model.command import Command

NOT_THERE = "No such file or directory"


@dataclass
class DescribedFiles:
    """Understands `cat F`, `grep -H '' F…`, `tee F`, `cp -p F G`, `mv -f F G`,
    `rm -f F`, `truncate -s -1 F`, `sync F|FOLDER`.

    An attribute of sysfs is a path below /sys or /proc; those are never made or removed.
    """

    files: dict[str, str] = field(default_factory=dict)
    """Path: content, with its line ends."""
    flushed: set[str] = field(default_factory=set, compare=False, kw_only=True)
    """Files whose content is on the disk."""
    durable: dict[str, str] = field(default_factory=dict, compare=False, kw_only=True)
    """What a failure of the power leaves: the names that a folder had when it was flushed last. A
    name whose file was not flushed leads to an empty one (fsync(2))."""

    def run(self, command: Command) -> Answer:
        match command.argv:
            case ("cat", path) if command.stdin is None:
                return self._cat(path)
            case ("grep", "-H", "", *paths) if paths and command.stdin is None:
                return self._grep(paths)
            case ("tee", path) if command.stdin is not None:
                # `echo TEXT | tee FILE`: one write, with a line end.
                return self._tee(path, command.stdin + "\n")
            case ("mv", "-f", source, path) if not is_attribute(path):
                if source not in self.files:
                    return Answer(errors=f"mv: cannot stat '{source}': {NOT_THERE}", returncode=1)
                self.files[path] = self.files.pop(source)
                self.flushed = {path if one == source else one for one in self.flushed - {path}}
                return Answer()
            case ("cp", "-p", source, path) if not is_attribute(path):
                if source not in self.files:
                    return Answer(errors=f"cp: cannot stat '{source}': {NOT_THERE}", returncode=1)
                self.files[path] = self.files[source]
                self.flushed.discard(path)
                return Answer()
            case ("truncate", "-s", "-1", path) if not is_attribute(path):
                self.files[path] = self.files.get(path, "")[:-1]
                self.flushed.discard(path)
                return Answer()
            case ("rm", "-f", path) if not is_attribute(path):
                self.files.pop(path, None)
                return Answer()
            case ("chmod", "644", path) if not is_attribute(path):
                missing = Answer("", f"chmod: cannot access '{path}': {NOT_THERE}\n", 1)
                return Answer() if path in self.files else missing
            case ("sync", path) if not is_attribute(path):
                return self._sync(path)
            case _:
                raise UnknownCommandError(command.line())

    def write(self, path: str, text: str) -> str:
        """Take what is written to an attribute: the kernel's word for a refusal, empty for none."""
        raise UnknownCommandError(f"{text!r} to {path}")

    def _cat(self, path: str) -> Answer:
        if path not in self.files:
            return Answer(errors=f"cat: {path}: {NOT_THERE}", returncode=1)
        return Answer(self.files[path])

    def _grep(self, paths: list[str]) -> Answer:
        missing = [f"grep: {path}: {NOT_THERE}\n" for path in paths if path not in self.files]
        lines = [
            f"{path}:{line}\n" for path in paths for line in self.files.get(path, "").splitlines()
        ]
        # grep: 2 when a file could not be read, else 1 where no line was found.
        code = 2 if missing else 0 if lines else 1
        return Answer("".join(lines), "".join(missing), code)

    def _sync(self, path: str) -> Answer:
        if path in self.files:
            self.flushed.add(path)
        else:
            inside = {one for one in self.files if one.rpartition("/")[0] == path}
            self.durable = {o: self.files[o] if o in self.flushed else "" for o in inside}
        return Answer()

    def _tee(self, path: str, content: str) -> Answer:
        if not is_attribute(path):
            self.files[path] = content
            self.flushed.discard(path)
            return Answer(content)
        if path not in self.files:
            # open(O_CREAT) in sysfs and procfs.
            return Answer(content, f"tee: {path}: Permission denied", 1)
        refusal = self.write(path, content.rstrip("\n"))
        return Answer(content, f"tee: {path}: {refusal}", 1) if refusal else Answer(content)


def is_attribute(path: str) -> bool:
    """Tell whether a path is of the kernel's own."""
    return path.startswith(("/sys/", "/proc/"))
