"""Inside the roots, and never outside, whoever swaps what meanwhile."""

import ctypes
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from lastword.agent.tools.files import Files

KEPT = "nobody's business"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "root"
    (root / "sub").mkdir(parents=True)
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.txt").write_text(KEPT)
    return root


def left_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("path", ["../outside/secret.txt", "sub/../../outside/secret.txt"])
def test_no_path_leads_out(root: Path, path: str) -> None:
    files = Files([root])

    for asked in (path, str(root.parent / "outside" / "secret.txt"), f"{root}/{path}"):
        with pytest.raises(PermissionError, match=f"out of what may be touched: {root}"):
            files.read_file(asked)
        with pytest.raises(PermissionError):
            files.write_file(asked, "x")
        with pytest.raises(PermissionError):
            files.list_files(asked)
    assert (root.parent / "outside" / "secret.txt").read_text() == KEPT


def test_a_root_whose_name_begins_like_another_is_another(root: Path) -> None:
    (root.parent / "root2").mkdir()

    with pytest.raises(PermissionError):
        Files([root]).list_files(str(root.parent / "root2"))


@pytest.mark.parametrize("target", ["../outside", "/", "{outside}"])
def test_no_symlink_leads_out(root: Path, target: str) -> None:
    outside = root.parent / "outside"
    (root / "link").symlink_to(target.format(outside=outside))
    (root / "file").symlink_to(outside / "secret.txt")
    (root / "chain").symlink_to("file")
    files = Files([root])
    deep = "" if target != "/" else str(outside).lstrip("/") + "/"

    for asked in (f"link/{deep}secret.txt", "file", "chain"):
        with pytest.raises(PermissionError, match="through a symlink"):
            files.read_file(asked)
        with pytest.raises(PermissionError):
            files.write_file(asked, "x")
        with pytest.raises(PermissionError):
            files.edit_file(asked, "the", "a")
    assert KEPT not in files.search_files("business")
    assert (outside / "secret.txt").read_text() == KEPT
    assert left_in(outside) == ["secret.txt"]


def test_symlinks_that_stay_inside_are_followed(root: Path) -> None:
    (root / "sub" / "a.txt").write_text("old")
    (root / "here").symlink_to("sub")
    (root / "full").symlink_to(root / "sub" / "a.txt")
    (root / "sub" / "up").symlink_to("..")
    files = Files([root])

    assert files.read_file("here/a.txt") == files.read_file("full") == "old"
    assert files.read_file("sub/up/sub/a.txt") == "old"
    assert files.name("here/../sub/up/full") == "sub/a.txt"
    files.write_file("full", "new")
    assert (root / "sub" / "a.txt").read_text() == "new"
    assert (root / "full").is_symlink()


def test_a_circle_of_symlinks_is_an_error(root: Path) -> None:
    (root / "a").symlink_to("b")
    (root / "b").symlink_to("a")

    with pytest.raises(OSError, match="too many symlinks"):
        Files([root]).read_file("a")


def test_a_second_root_is_reached_by_its_full_path_however_it_was_written(root: Path) -> None:
    other = root.parent / "other"
    other.mkdir()
    (root.parent / "alias").symlink_to(other)
    files = Files([root, root.parent / "alias"])

    files.write_file(str(other / "a.txt"), "hello")
    assert files.read_file(str(root.parent / "alias" / "a.txt")) == "hello"
    assert files.name(str(root.parent / "alias" / "a.txt")) == str(other / "a.txt")


@contextmanager
def swapping(one: Path, other: Path) -> Generator[Callable[[], int]]:
    """Two names that change places all the time, each time in one step."""
    libc, here, exchange = ctypes.CDLL(None), -100, 2
    ended, rounds = threading.Event(), [0]

    def swap() -> None:
        while not ended.is_set() or rounds[0] % 2:
            assert libc.renameat2(here, bytes(one), here, bytes(other), exchange) == 0
            rounds[0] += 1

    thread = threading.Thread(target=swap)
    thread.start()
    try:
        yield lambda: rounds[0]
    finally:
        ended.set()
        thread.join()


@pytest.mark.parametrize("what", ["directory", "file"])
def test_a_symlink_swapped_in_meanwhile_is_no_way_out(root: Path, what: str) -> None:
    outside = root.parent / "outside"
    (root / "sub" / "secret.txt").write_text("mine")
    real = root / "sub" if what == "directory" else root / "sub" / "secret.txt"
    trap = real.with_name("trap")
    trap.symlink_to(outside if what == "directory" else outside / "secret.txt")
    files, seen, refused = Files([root]), set[str](), 0

    with swapping(real, trap) as rounds:
        for number in range(100_000):
            try:
                seen.add(files.read_file("sub/secret.txt"))
                files.write_file("sub/secret.txt", f"mine {number}")
            except (OSError, ValueError):
                refused += 1
            if rounds() > 300 and refused > 100 and len(seen) > 20:
                break

    assert refused
    assert seen
    assert not [text for text in seen if KEPT in text]
    assert (outside / "secret.txt").read_text() == KEPT
    assert left_in(outside) == ["secret.txt"]
