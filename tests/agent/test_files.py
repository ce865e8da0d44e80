"""Files: read, written, edited, listed and searched, each with its limits."""

import asyncio
import os
import threading
from contextlib import suppress
from pathlib import Path

import pytest

from lastword import Run, Runtime, Status
from lastword.agent.tools.files import Files
from tests.meter import open_files
from tests.promise.stories import heard_by
from tests.promise.workshop import gone, until


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "root"
    (root / "sub").mkdir(parents=True)
    return root


def left_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


# reading


def test_a_file_is_read_by_lines_and_what_was_cut_is_said(root: Path) -> None:
    (root / "a.txt").write_text("one\ntwo\nthree\n")
    files = Files([root])

    assert files.read_file("a.txt") == "one\ntwo\nthree\n"
    assert files.read_file("a.txt", 2, 1) == (
        "two\n[cut: lines 2 to 2 are shown; go on with offset=3]"
    )
    assert files.read_file("a.txt", 3) == "three\n"
    assert files.read_file(str(root / "a.txt"), 9).startswith("[there are only 3 lines")


def test_a_long_file_and_a_long_line_are_cut_where_it_is_said(root: Path) -> None:
    (root / "long.txt").write_text(("y" * 99 + "\n") * 5000)
    (root / "line.txt").write_text("z" * 1_000_000)
    files = Files([root])

    text = files.read_file("long.txt", limit=100_000)
    assert len(text) < 101_000
    assert text.endswith("[cut: lines 1 to 1000 are shown; go on with offset=1001]")
    assert files.read_file("line.txt").endswith("which is too long to be shown]")


def test_what_is_no_text_is_not_shown_and_what_is_hardly_text_is_replaced(root: Path) -> None:
    (root / "picture").write_bytes(b"\x89PNG\0\1\2")
    (root / "latin").write_bytes(b"caf\xe9\n")
    (root / "empty").touch()
    files = Files([root])

    assert files.read_file("picture") == "[picture is a binary file of 7 bytes; it is not shown]"
    assert files.read_file("latin") == "caf\ufffd\n"
    assert files.read_file("empty") == "[empty is empty]"


def test_a_pipe_or_a_directory_is_refused_and_keeps_nobody_waiting(root: Path) -> None:
    os.mkfifo(root / "pipe")
    files = Files([root])

    with pytest.raises(ValueError, match="pipe is a device, a pipe or a socket"):
        files.read_file("pipe")
    with pytest.raises(IsADirectoryError, match="sub is a directory"):
        files.read_file("sub")
    with pytest.raises(IsADirectoryError):
        files.write_file(".", "x")
    with pytest.raises(ValueError, match="not an ordinary file"):
        files.write_file("pipe", "x")


def test_an_error_names_what_was_wrong(root: Path) -> None:
    (root / "a.txt").touch()
    files = Files([root])

    with pytest.raises(FileNotFoundError, match=r"there is no sub/none\.txt"):
        files.read_file("sub/none.txt")
    with pytest.raises(NotADirectoryError, match=r"a\.txt is not a directory"):
        files.read_file("a.txt/b")
    with pytest.raises(ValueError, match="at least 1"):
        files.read_file("a.txt", 0)
    with pytest.raises(ValueError, match="NUL"):
        files.read_file("a\0b")
    with pytest.raises(ValueError, match="at least one"):
        Files([])
    with pytest.raises(NotADirectoryError):
        Files([root / "a.txt"])


# writing


def test_a_write_makes_directories_keeps_the_mode_and_leaves_nothing_beside(root: Path) -> None:
    files = Files([root])
    (root / "tool.sh").write_text("old")
    (root / "tool.sh").chmod(0o751)

    assert files.write_file("new/deep/a.txt", "é") == "wrote new/deep/a.txt: 2 bytes"
    assert files.write_file("tool.sh", "new") == "replaced tool.sh: 3 bytes"

    assert (root / "new" / "deep" / "a.txt").read_text(encoding="utf-8") == "é"
    assert (root / "tool.sh").stat().st_mode & 0o777 == 0o751
    assert left_in(root) == ["new", "sub", "tool.sh"]
    assert left_in(root / "new" / "deep") == ["a.txt"]


def test_whoever_reads_meanwhile_sees_the_old_or_the_new_and_nothing_between(root: Path) -> None:
    files, size = Files([root]), 200_000
    files.write_file("a.txt", "a" * size)
    seen, ended = set[str](), threading.Event()

    def write() -> None:
        for number in range(60):
            files.write_file("a.txt", "ab"[number % 2] * size)
        ended.set()

    thread = threading.Thread(target=write)
    thread.start()
    while not ended.is_set():
        seen.add((root / "a.txt").read_text())
    thread.join()

    assert seen <= {"a" * size, "b" * size}


def test_a_write_that_may_not_go_on_changes_nothing(root: Path) -> None:
    (root / "a.txt").write_text("old")
    files = Files([root])

    with pytest.raises(InterruptedError, match="it is as it was"):
        files.write_file("a.txt", "new", may_go_on=lambda: False)
    with pytest.raises(InterruptedError):
        files.edit_file("a.txt", "old", "new", may_go_on=lambda: False)

    assert (root / "a.txt").read_text() == "old"
    assert left_in(root) == ["a.txt", "sub"]


def test_a_write_that_may_not_go_on_makes_no_directory(root: Path) -> None:
    answers = iter([True, False])  # in between, a stop

    with pytest.raises(InterruptedError, match="on the way to one/two/three/a"):
        Files([root]).write_file("one/two/three/a", "new", may_go_on=lambda: next(answers))

    assert left_in(root) == ["one", "sub"]
    assert left_in(root / "one") == []


# editing


def test_an_edit_wants_exactly_one_place_or_all(root: Path) -> None:
    (root / "a.py").write_text("a = 1\nb = 1\nc = 1\n")
    files = Files([root])

    with pytest.raises(ValueError, match=r"old occurs 3 times in a\.py"):
        files.edit_file("a.py", "= 1", "= 2")
    with pytest.raises(ValueError, match=r"old does not occur in a\.py"):
        files.edit_file("a.py", "= 3", "= 2")
    with pytest.raises(ValueError, match="nothing was changed"):
        files.edit_file("a.py", "", "x")
    assert (root / "a.py").read_text() == "a = 1\nb = 1\nc = 1\n"

    assert files.edit_file("a.py", "b = 1", "b = 2") == "edited a.py: 1 place"
    assert files.edit_file("a.py", "= 1", "= 3", all=True) == "edited a.py: 2 places"
    assert (root / "a.py").read_text() == "a = 3\nb = 2\nc = 3\n"


def test_an_edit_that_would_leave_too_much_is_refused_before_it_is_made(root: Path) -> None:
    (root / "a.txt").write_text("a" * 1_000_000)
    files = Files([root])

    with pytest.raises(ValueError, match=r"would have 1,000,000,000,000 bytes, and 16,777,216"):
        files.edit_file("a.txt", "a", "b" * 1_000_000, all=True)

    assert (root / "a.txt").stat().st_size == 1_000_000
    assert files.edit_file("a.txt", "a", "bb", all=True) == "edited a.txt: 1000000 places"


def test_places_that_overlap_are_more_than_one(root: Path) -> None:
    (root / "a.txt").write_text("aaa")

    with pytest.raises(ValueError, match="occurs 2 times"):
        Files([root]).edit_file("a.txt", "aa", "b")


def test_an_edit_leaves_what_is_no_text_and_the_line_ends_as_they_are(root: Path) -> None:
    (root / "a.txt").write_bytes(b"\xff one\r\ntwo\r\nthree\r\n")

    Files([root]).edit_file("a.txt", "one\ntwo\n", "1\n2\n")

    assert (root / "a.txt").read_bytes() == b"\xff 1\r\n2\r\nthree\r\n"


def test_an_edit_does_not_undo_what_somebody_else_wrote_meanwhile(root: Path) -> None:
    (root / "a.txt").write_text("one")

    def somebody_writes() -> bool:
        (root / "a.txt").write_text("theirs")
        return True

    with pytest.raises(ValueError, match="somebody else changed"):
        Files([root]).edit_file("a.txt", "one", "two", may_go_on=somebody_writes)
    assert (root / "a.txt").read_text() == "theirs"


# listing and searching


def test_a_list_shows_one_directory_or_with_two_stars_all_below(root: Path) -> None:
    for name in ("a.py", "sub/b.py", "sub/deep/c.py", ".git/config"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).touch()
    (root / "link").symlink_to("/")
    files = Files([root])

    assert files.list_files().splitlines() == [".git/", "a.py", "link@", "sub/"]
    assert files.list_files("sub").splitlines() == ["sub/b.py", "sub/deep/"]
    assert files.list_files(pattern="**/*.py").splitlines() == ["a.py", "sub/b.py", "sub/deep/c.py"]
    assert files.list_files(pattern="*/*.py") == "sub/b.py"
    assert files.list_files(pattern="*.rs") == "[nothing matches *.rs]"
    everything = files.list_files(pattern="**").splitlines()
    assert ".git/config" not in everything
    assert everything[-1] == "[not looked into: .git/]"


def test_a_long_list_is_cut_and_says_so(root: Path) -> None:
    for number in range(1100):
        (root / "sub" / f"{number:04}").touch()

    lines = Files([root]).list_files("sub").splitlines()

    assert lines[-2:] == [
        "sub/0999",
        "[only the first 1,000 are listed; give a narrower pattern]",
    ]


def test_a_search_gives_lines_with_their_places_and_says_what_it_left_out(root: Path) -> None:
    (root / "a.py").write_text("import os\n\nimport sys\n")
    (root / "sub" / "b.txt").write_text("import nothing\n")
    (root / "sub" / "c.bin").write_bytes(b"import\0")
    files = Files([root])

    assert files.search_files(r"^import \w+").splitlines() == [
        "a.py:1: import os",
        "a.py:3: import sys",
        "sub/b.txt:1: import nothing",
        "[3 files searched]",
        "[1 left out: binary, too long, or not readable]",
    ]
    assert files.search_files("import", glob="*.txt").splitlines()[0] == (
        "sub/b.txt:1: import nothing"
    )
    assert files.search_files("os", "a.py").startswith("a.py:1: import os")
    assert files.search_files("nowhere at all", "sub").startswith("['nowhere at all' is nowhere]")
    with pytest.raises(ValueError, match="not a regular expression"):
        files.search_files("(")


def test_a_search_asks_before_every_file_whether_it_may_go_on(root: Path) -> None:
    for number in range(10):
        (root / "sub" / str(number)).write_text("x")
    asked: list[int] = []

    def may_go_on() -> bool:
        asked.append(1)
        return len(asked) < 4

    with pytest.raises(InterruptedError, match="stopped after 3 names"):
        Files([root]).search_files("x", "sub", may_go_on=may_go_on)
    assert len(asked) == 4


def test_nothing_is_left_open_whatever_happens(root: Path) -> None:
    (root / "sub" / "deep").mkdir()
    (root / "sub" / "deep" / "a.txt").write_text("x")
    files, before = Files([root]), open_files()

    for path in ("sub/deep/a.txt", "sub/deep/none", "../x", "sub/deep/a.txt/b", "sub"):
        for act in (files.read_file, files.list_files, files.search_files):
            with suppress(OSError, ValueError):
                act(path)
        with suppress(InterruptedError):
            files.search_files("x", may_go_on=lambda: False)

    assert open_files() == before


# through the gate


async def test_a_stop_kills_a_search_that_would_take_for_ever(root: Path) -> None:
    (root / "a.txt").write_text("a" * 60 + "b\n")

    async def engine(run: Run) -> None:
        search = run.gate(Files([root]).search_files, name="search_files", isolated=True)
        await search(r"(a+)+$")

    async with Runtime(engine) as r:
        session = r.session("s")
        heard = heard_by(session)
        await session.send("go")
        await until(lambda: any(event.kind == "process" for event in heard))
        receipt = await session.stop()

        assert receipt.quiet
        assert [call.status for call in receipt.calls] == [Status.MAY_HAVE_EXECUTED]
        assert all(gone(process.pid) for process in receipt.processes)


async def test_a_stopped_run_writes_nothing_more_although_its_thread_lives_on(root: Path) -> None:
    (root / "a.txt").write_text("old")
    entered, go_on, told = threading.Event(), threading.Event(), list[BaseException]()

    async def engine(run: Run) -> None:
        def may_go_on() -> bool:
            entered.set()
            go_on.wait(20)
            return run.current

        def write() -> None:
            try:
                Files([root]).write_file("a.txt", "new", may_go_on=may_go_on)
            except InterruptedError as error:
                told.append(error)

        await run.call(write)

    async with Runtime(engine) as r:
        session = r.session("s")
        await session.send("go")
        await asyncio.to_thread(entered.wait, 20)
        await session.stop()
        go_on.set()
        await until(lambda: told)

    assert (root / "a.txt").read_text() == "old"
