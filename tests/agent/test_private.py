"""lastword's own files are nobody's to look at: by no name, link, root or rule."""

import os
import pickle
from collections.abc import Callable
from pathlib import Path

import pytest
from pydantic_ai.models.function import FunctionModel

from lastword import Runtime
from lastword.agent.assistant import assistant
from lastword.agent.tools.files import Files
from lastword.agent.tools.private import Private
from tests.agent.to_the_letter import Model, Talk, call

SECRET = "the words of another"  # noqa: S105
PRIVATE = (
    "lastword.db",
    "lastword.db-wal",
    "lastword.db-shm",
    "lastword.db-journal",
    "tokens.toml",
)
STATE = ("server.key", "trusted.json", "acp/sessions.db", "made/later")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    (tmp_path / "project").mkdir()
    return tmp_path


def private(home: Path) -> Private:
    project = home / "project"
    return Private.of(f"sqlite:{project / 'lastword.db'}", [project / "tokens.toml"])


def filled(home: Path) -> list[Path]:
    """All of them, made after whoever refuses them."""
    found = [home / "project" / name for name in PRIVATE]
    found += [home / "state" / "lastword" / name for name in STATE]
    found.append(home / "config" / "lastword" / "lastword.toml")
    for path in found:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(SECRET)
    return found


def as_it_is(home: Path, path: Path) -> str:
    return str(path)


def upwards(home: Path, path: Path) -> str:
    return f"{home}/project/../{path.relative_to(home)}"


def by_symlink(home: Path, path: Path) -> str:
    (home / "project" / "link").symlink_to(path)
    return "project/link"


def by_hard_link(home: Path, path: Path) -> str:
    os.link(path, home / "project" / "readme.txt")
    return "project/readme.txt"


def by_folder(home: Path, path: Path) -> str:
    (home / "project" / "notes").symlink_to(path.parent)
    return f"project/notes/{path.name}"


def by_descriptor(home: Path, path: Path) -> str:
    return f"/proc/self/fd/{os.open(path, os.O_RDONLY)}"


WAYS = (as_it_is, upwards, by_symlink, by_hard_link, by_folder, by_descriptor)


@pytest.mark.scenario("W2", part="agent")
@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
@pytest.mark.parametrize("number", range(len(PRIVATE) + len(STATE) + 1))
def test_no_way_leads_a_file_tool_to_what_is_private(
    home: Path, way: Callable[[Path, Path], str], number: int
) -> None:
    files = Files([home, "/"], private=private(home))
    wanted = filled(home)[number]
    path = way(home, wanted)
    elsewhere = pickle.loads(pickle.dumps(files))  # noqa: S301 - as a search in a process has it

    for tool in (
        lambda: files.read_file(path),
        lambda: files.write_file(path, "mine"),
        lambda: files.edit_file(path, "words", "lies"),
        lambda: elsewhere.search_files("words", path),
    ):
        with pytest.raises(PermissionError, match="no file tool may look at it"):
            tool()
    assert wanted.read_text() == SECRET


@pytest.mark.scenario("W2", part="agent")
def test_a_search_and_a_list_of_all_tell_nothing_of_what_is_private(home: Path) -> None:
    files = Files([home], private=private(home))
    filled(home)
    (home / "project" / "mine.txt").write_text("my words")

    found = files.search_files("words")
    listed = files.list_files(".", "**")

    assert "project/mine.txt:1" in found
    assert SECRET not in found
    assert not any(name in listed for name in STATE)
    for folder in ("state/lastword", "state/lastword/acp", "config/lastword"):
        with pytest.raises(PermissionError, match="no file tool"):
            files.list_files(folder)


@pytest.mark.scenario("W2", part="agent")
@pytest.mark.parametrize("name", PRIVATE)
def test_what_is_private_cannot_be_planted_before_it_is_there(home: Path, name: str) -> None:
    files = Files([home / "project"], private=private(home))
    (home / "project" / "sub").mkdir()
    (home / "project" / "sub" / "up").symlink_to("..")

    for path in (name, f"sub/up/{name}"):
        with pytest.raises(PermissionError, match="no file tool"):
            files.write_file(path, "[me]\ntoken = 'mine'")
    assert not (home / "project" / name).exists()


@pytest.mark.scenario("W33", part="agent")
@pytest.mark.parametrize(
    "path", ["config/lastword", "config/lastword/lastword.toml", "state/lastword/a/b"]
)
def test_what_is_kept_for_the_person_cannot_be_planted_before_it_is_there(
    home: Path, path: str
) -> None:
    files = Files([home], private=private(home))
    (home / "project" / "settings").symlink_to(home / "config")
    (home / "config").mkdir()

    for one in (path, path.replace("config", "project/settings")):
        with pytest.raises(PermissionError, match="no file tool"):
            files.write_file(one, "rules = ['allow *']")
    assert list((home / "config").iterdir()) == []
    assert not (home / "state" / "lastword").exists()


@pytest.mark.scenario("W33", part="agent")
@pytest.mark.parametrize("name", PRIVATE)
def test_no_directory_takes_the_place_of_what_is_private(home: Path, name: str) -> None:
    files = Files([home / "project"], private=private(home))

    with pytest.raises(PermissionError, match="no file tool"):
        files.write_file(f"{name}/inside", "x")
    assert not (home / "project" / name).exists()


@pytest.mark.scenario("W2", part="agent")
def test_a_store_behind_a_link_is_private_where_it_lies(home: Path) -> None:
    (home / "real.db").write_text(SECRET)
    (home / "project" / "lastword.db").symlink_to(home / "real.db")
    files = Files([home], private=private(home))
    (home / "real.db-wal").write_text(SECRET)

    for path in ("real.db", "real.db-wal", "project/lastword.db"):
        with pytest.raises(PermissionError, match="no file tool"):
            files.read_file(path)
    with pytest.raises(PermissionError, match="no file tool"):
        files.write_file("real.db-journal", "hot")


@pytest.mark.scenario("W2", part="agent")
@pytest.mark.parametrize("root", ["state/lastword", "state/lastword/acp", "config/lastword"])
def test_a_root_inside_what_is_private_opens_nothing(home: Path, root: str) -> None:
    filled(home)
    files = Files([home / root], private=private(home))

    for tool in (files.list_files, lambda: files.search_files("words")):
        with pytest.raises(PermissionError, match="no file tool"):
            tool()


@pytest.mark.scenario("W2", part="agent")
@pytest.mark.parametrize("path", ["/proc/self/environ", "/proc/{pid}/environ", "/proc/self/maps"])
def test_what_the_system_tells_of_processes_is_not_shown(home: Path, path: str) -> None:
    files = Files(["/"], private=private(home))

    with pytest.raises(PermissionError, match="no file tool"):
        files.read_file(path.format(pid=os.getpid()))


@pytest.mark.scenario("W2", part="agent")
async def test_no_rule_lets_an_agent_read_the_store_it_speaks_in_or_its_tokens(home: Path) -> None:
    project, model = home / "project", Model()
    store = f"sqlite:{project / 'lastword.db'}"
    (project / "tokens.toml").write_text("[bob]\ntoken = 'bob-token'")
    agent = assistant(
        FunctionModel(stream_function=model.stream),
        roots=[project],
        rules=["allow *", "allow read_file tokens.toml"],
        private=private(home),
    )
    before = agent.questions.as_before_tool()
    async with Runtime(agent.engine, store=store, before_tool=before, grace=0.25) as runtime:
        said = await Talk(runtime, agent.questions, model).does(
            call("read_file", path="tokens.toml"),
            call("search_files", pattern="token"),
            call("search_files", pattern=".", path="lastword.db"),
            call("write_file", path="lastword.db-journal", text="x"),
        )

    assert "bob-token" not in said
    assert said.count("no file tool may look at it") == 3
    assert not (project / "lastword.db-journal").exists()
