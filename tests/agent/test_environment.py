"""Commands of an agent: git runs nothing that a repository names, and has no provider's key."""

import os
import re
from pathlib import Path
from uuid import uuid4

import pydantic_ai
import pytest

from lastword.agent.tools.environment import is_key, without_keys
from lastword.agent.tools.shell import Shell
from lastword.processes import Level
from tests.agent import call_by_call
from tests.agent.repositories import Repository
from tests.agent.to_the_letter import call, talking
from tests.processes.helping import ROOTS

#: settings of a repository, and a command with which git would run what they name
NAMED = (
    ("core.fsmonitor", "git status"),
    ("core.fsmonitor", "git diff"),
    ("core.hooksPath=hooks", "git commit -qam more"),
    ("filter.evil.clean", "git add f.c"),
    ("filter.evil.process", "git add f.c"),
    ("filter.evil.smudge", "git checkout -f f.c"),
    ("diff.external", "git diff"),
    ("diff.evil.command", "git diff"),
    ("diff.evil.textconv", "git diff"),
    ("diff.evil.textconv", "git log -p"),
    ("core.editor", "git commit -qa --allow-empty"),
    ("sequence.editor", "git stash -q; git rebase -i HEAD~1"),
    ("alias.st=!evil", "git st"),
    ("gpg.program", "git commit -qa -S -m signed"),
    ("core.sshCommand", "git fetch ssh://localhost/x"),
    ("core.gitProxy", "git fetch git://localhost/x"),
    ("credential.helper=!evil", "echo url=http://localhost | git credential fill"),
    ("core.askPass", "echo url=http://localhost | git credential fill"),
    ("remote.origin.uploadpack", "git fetch origin"),
    ("protocol.ext.allow=always", "git fetch 'ext::evil'"),
    ("trailer.evil.command", "git commit -qa --allow-empty -m x --trailer evil=1"),
    ("tar.evil.command", "git archive --format=evil HEAD"),
    ("interactive.diffFilter", "echo y | git add -p"),
)


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository(tmp_path)


@pytest.mark.scenario("W5", part="agent")
@pytest.mark.parametrize(("setting", "command"), NAMED)
async def test_git_runs_nothing_that_a_repository_names(
    repository: Repository, setting: str, command: str
) -> None:
    repository.sets(setting)

    assert not repository.does(command, await repository.ours())


@pytest.mark.scenario("W5", part="agent")
async def test_a_program_that_an_included_file_or_another_spelling_names_is_not_run_either(
    repository: Repository,
) -> None:
    config = repository.home / ".git" / "config"
    (repository.home / "more").write_text('[Filter "evil"] clean = evil\n')
    config.write_text(f"{config.read_text()}\n[include]\n\tpath = ../more\n[FSMonitor]\n")

    assert not repository.does("git add f.c", await repository.ours())
    assert repository.does("echo more >> f.c && git add f.c")  # without it, it would be


@pytest.mark.scenario("W5", part="agent")
async def test_a_submodule_s_settings_run_nothing_while_the_whole_is_asked_how_it_stands(
    repository: Repository,
) -> None:
    repository.does(
        "git init -q sub && cd sub && git config user.name n && git config user.email e@x"
        " && git commit -q --allow-empty -m x && git config core.fsmonitor evil && cd .."
        " && git add sub && printf '[submodule \"sub\"]\\npath=sub\\nurl=./sub\\n' > .gitmodules"
    )
    repository.mark.unlink(missing_ok=True)

    assert not repository.does("git status", await repository.ours())
    assert repository.does("git status")  # without it, it would be


@pytest.mark.scenario("W5", part="agent")
async def test_an_allowed_status_asks_nobody_and_runs_nothing_of_the_repository_s(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in repository.plain.items():
        monkeypatch.setenv(name, value)
    for setting in ("core.fsmonitor", "core.pager", "pager.status"):
        repository.sets(setting)
    async with talking(repository.home, "allow shell git status") as talk:
        said = await talk.does(
            call("shell", command="git status"), call("shell", command="git status", pty=True)
        )

    assert said.count("modified:") == 2
    assert not repository.mark.exists()


@pytest.mark.scenario("W5", part="agent")
async def test_what_the_person_set_for_git_by_environment_still_holds(
    repository: Repository,
) -> None:
    own = {
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "user.name",
        "GIT_CONFIG_VALUE_0": "Ann O'Neill!",
        "GIT_CONFIG_PARAMETERS": "'user.email'='ann@example.org'",
    }
    env = await repository.ours(**own)
    assert repository.gives(env, "git", "var", "GIT_AUTHOR_IDENT").startswith(
        "Ann O'Neill! <ann@example.org>"
    )


SETTINGS = re.compile(
    r"(URL|BASE|ENDPOINT|VERSION|REGION|TIMEOUT|TITLE|HOME|LOCATION|PROJECT|ID|ACCOUNT)$"
)


def looked_for() -> set[str]:
    """The variables that the installed framework's providers read."""
    folder = Path(pydantic_ai.__file__).parent / "providers"
    read = re.compile(r"""(?:getenv|environ(?:\.get)?)\s*[(\[]\s*['"]([A-Z][A-Z0-9_]+)['"]""")
    return {name for path in folder.glob("*.py") for name in read.findall(path.read_text())}


@pytest.mark.scenario("W13", part="agent")
def test_no_key_that_an_installed_provider_looks_for_reaches_a_command() -> None:
    keys = {name for name in looked_for() if not SETTINGS.search(name)}

    assert len(keys) > 20  # or this looks in the wrong place
    assert not {name for name in keys if not is_key(name)}


@pytest.mark.scenario("W13", part="agent")
@pytest.mark.parametrize(
    "name",
    ["ANTHROPIC_AUTH_TOKEN", "HF_TOKEN", "AWS_BEARER_TOKEN_BEDROCK", "OPENAI_KEY",
     "MY_OPENAI_API_KEY", "OPENAI_API_KEY_2", "HUGGING_FACE_HUB_TOKEN", "CO_API_KEY",
     "GOOGLE_APPLICATION_CREDENTIALS", "LASTWORD_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN",
     "openai_api_key", "AZURE_API_KEY", "AI_GATEWAY_API_KEY", "OPENAI_APIKEY", "WATSONX_API_KEY",
     "WATSONX_APIKEY", "DATABRICKS_TOKEN", "FRIENDLI_TOKEN", "FAL_KEY", "AZURE_CLIENT_SECRET",
     "NOBODY_KNOWS_IT_API_KEY", "API_KEY"],
)  # fmt: skip
def test_a_key_is_known_by_the_pattern_of_its_name(name: str) -> None:
    assert without_keys({name: "x", "PATH": "/bin"}) == {"PATH": "/bin"}


@pytest.mark.scenario("W13", part="agent")
def test_a_key_under_another_name_is_left_out_and_what_is_the_person_s_own_is_not() -> None:
    environment = {
        "OPENAI_API_KEY": "sk-0123456789abcdef",
        "SPARE": "sk-0123456789abcdef",
        "OPENAI_BASE_URL": "http://localhost",
        "GITHUB_TOKEN": "mine",
        "SHOP_KEY": "theirs",
        "MONKEY": "banana",
    }

    left = without_keys(environment)

    assert left.keys() == {"OPENAI_BASE_URL", "GITHUB_TOKEN", "SHOP_KEY", "MONKEY"}


@pytest.mark.scenario("W13", part="agent")
@pytest.mark.parametrize("level", ["tree", pytest.param("sealed", marks=ROOTS)])
async def test_no_keeper_of_processes_has_a_key_for_a_command_to_read(
    level: Level, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = f"sk-{uuid4().hex}"
    monkeypatch.setenv("OPENAI_API_KEY", secret)  # which puts it where children inherit it
    looks = f"grep -qa PATH= /proc/$$/environ && grep -las {secret} /proc/[0-9]*/environ"

    async with call_by_call.talking(level) as (talk, _):
        seen = await talk.does(lambda run: Shell().run(run, f"{looks} || echo nobody has it"))

    assert seen == "nobody has it\n[exit code 0]"


@pytest.mark.scenario("W13", part="agent")
async def test_git_has_no_key_when_it_is_asked_what_it_would_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is a process of the run, beside which its commands go on."""
    (tmp_path / ".git").mkdir()
    git = tmp_path / "git"
    git.write_text(f"#!/bin/sh\nenv >> {tmp_path}/seen\n")
    git.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-0123456789abcdef")
    async with talking(tmp_path, "allow shell", "allow shell git *") as talk:
        talk.answering(True)
        await talk.does(call("shell", command="git --version"))

    seen = (tmp_path / "seen").read_text()
    assert seen.count("GIT_CONFIG_COUNT=") > 2  # once judged, once for the command, and its own
    assert "sk-0123456789abcdef" not in seen
