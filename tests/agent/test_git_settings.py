"""However a repository spells its settings, git reads them: nothing runs unasked for them."""

import asyncio
import os
import subprocess
from pathlib import Path

import pytest

from lastword.agent.rules import Rule
from tests.agent.repositories import Repository
from tests.agent.to_the_letter import call, talking
from tests.promise.workshop import gone, until

ALL = "git status; git diff; git add f.c"
FILTER = '[filter "evil"]\n\tclean = evil\n'
INCLUDED = {
    "on one line": "[include] path = more",
    "behind another": "[user] [include]\n path = more",
    "with a comment": "[include]\n path = more ; so it is",
    "quoted in part": '[include]\n path = "mo"re',
    "over two lines": "[include]\n path = mo\\\nre",
    "by a condition": '[includeIf "gitdir:/**"]\n path = more',
    "by a branch": '[includeIf "onbranch:*"]\n path = more',
}
SPELLED = {
    "two headers on a line": '[user] [filter "evil"]\n clean = evil',
    "no space between": '[filter "z"][filter "evil"]clean=evil',
    "an old header": "[filter.EVIL]\n clean = evil",
    "an escape in a name": '[filter "e\\vil"]\n clean = evil',
    "a lone return": '[filter "evil"]\r clean = evil',
    "a comment behind": '[FILTER "evil"] ; c\n CLEAN=evil # c',
    "a process": '[filter "evil"]\n process = evil',
    "a diff of its own": "[user] [diff]\n external = evil",
    "a text of its own": '[user] [diff "evil"] textconv = evil',
}


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repository:
    made = Repository(tmp_path)
    for name, value in made.plain.items():
        monkeypatch.setenv(name, value)
    return made


async def asked_for(repository: Repository, *commands: str) -> list[str]:
    """What is asked of those, though rules allow all; the person says no."""
    async with talking(repository.home, "allow shell", "allow shell git *") as talk:
        talk.answering(False)
        for command in commands:
            await talk.does(call("shell", command=command))
        return [question.why for question in talk.asked]


@pytest.mark.scenario("W50", part="agent")
@pytest.mark.parametrize("text", SPELLED.values(), ids=SPELLED)
async def test_a_program_is_found_however_its_setting_is_spelled(
    repository: Repository, text: str
) -> None:
    repository.says(f"{text}\n")

    assert len(await asked_for(repository, "git status", "git diff")) == 2
    assert not repository.mark.exists()
    assert not repository.does(ALL, await repository.ours())
    assert repository.does(f"echo other > f.c; {ALL}")  # without it, it would be


@pytest.mark.scenario("W50", part="agent")
@pytest.mark.parametrize("text", INCLUDED.values(), ids=INCLUDED)
async def test_a_program_is_found_however_its_file_is_included(
    repository: Repository, text: str
) -> None:
    repository.says(f"{text}\n")
    repository.says(FILTER, ".git/more")

    [why] = await asked_for(repository, "git status")
    assert "sets " in why
    assert not repository.does(ALL, await repository.ours())
    assert repository.does(f"echo other > f.c; {ALL}")  # without it, it would be


@pytest.mark.scenario("W50", part="agent")
@pytest.mark.parametrize("told", ["", "[diff]\n submodule = diff\n"])
@pytest.mark.parametrize("elsewhere", [False, True])
async def test_what_a_repository_inside_sets_is_asked_about_and_not_run(
    repository: Repository, told: str, elsewhere: bool
) -> None:
    repository.does(
        "git init -q sub && cd sub && git config user.name n && git config user.email e@x"
        " && echo a > f.c && echo '*.c filter=evil diff=evil' > .gitattributes"
        " && git add . && git commit -qm s && echo b > f.c && cd .. && git add sub"
        " && git commit -qm sub"
    )
    repository.says(told)
    if elsewhere:
        repository.does("mv sub/.git ../inside && echo 'gitdir: ../../inside' > sub/.git")
    inside = repository.home.parent / "inside" if elsewhere else repository.home / "sub" / ".git"
    with (inside / "config").open("a") as settings:
        settings.write(FILTER)
    (repository.home / "sub" / "f.c").write_text("c\n")
    repository.mark.unlink(missing_ok=True)

    assert len(await asked_for(repository, "git status", "git diff")) == 2
    assert not repository.does("git status; git diff", await repository.ours())
    assert repository.does("git status; git diff")  # without it, it would be


@pytest.mark.scenario("W50", part="agent")
async def test_a_plain_repository_is_asked_nothing_of(repository: Repository) -> None:
    repository.does(
        "git init -q sub && cd sub && git config user.name n && git config user.email e@x"
        " && git commit -q --allow-empty -m x && cd .. && git add sub && git branch side"
        " && git config branch.side.remote origin && git config alias.st status"
        " && git config core.hooksPath .husky && git config color.ui always"
    )
    assert await asked_for(repository, "git status", "git diff", "git --version") == []


@pytest.mark.scenario("W50", part="agent")
@pytest.mark.parametrize(
    "command",
    ["git -C sub status", "git -c core.fsmonitor=evil status", "git --git-dir=sub/.git log",
     "git  --exec-path=. status", "git submodule foreach evil", "git diff --submodule=diff"],
)  # fmt: skip
async def test_git_that_works_elsewhere_is_asked_about(
    repository: Repository, command: str
) -> None:
    assert len(await asked_for(repository, command)) == 1


@pytest.mark.scenario("W50", part="agent")
@pytest.mark.parametrize("text", ["[filter\n", "[include]\n path = pipe\n"])
async def test_where_settings_cannot_be_listed_git_is_asked_about_and_does_not_work(
    repository: Repository, text: str
) -> None:
    repository.says(text)
    os.mkfifo(repository.home / ".git" / "pipe")

    [why] = await asked_for(repository, "git status")
    assert "cannot be told" in why
    env = await repository.ours()
    done = await asyncio.to_thread(
        subprocess.run, ["/bin/sh", "-c", "git status; echo other programs do"],
        cwd=repository.home, env=env, capture_output=True, check=False, text=True,
    )  # fmt: skip
    assert "cannot be told" in done.stderr
    assert done.stdout == "other programs do\n"


@pytest.mark.scenario("W50", part="agent")
async def test_thousands_of_filters_keep_no_other_program_from_running(
    repository: Repository,
) -> None:
    repository.says("".join(f'[filter "f{n}"]\n clean = evil\n' for n in range(6_000)))

    env = await repository.ours()
    assert repository.gives(env, "echo", "hi") == "hi\n"
    assert not repository.does("git status; git add f.c", env)


@pytest.mark.scenario("W50", part="agent")
async def test_an_ordinary_alias_leaves_git_as_it_is(repository: Repository) -> None:
    repository.does("git config alias.st status")

    env = await repository.ours()
    assert "f.c" in repository.gives(env, "git", "status", "--short")


@pytest.mark.scenario("W50", part="agent")
async def test_what_the_person_allows_is_run_and_told_why_it_was_asked(
    repository: Repository,
) -> None:
    repository.says(FILTER)
    async with talking(repository.home, "allow shell git status") as talk:
        talk.answering(True, always=True)
        said = [await talk.does(call("shell", command="git status")) for _ in range(2)]

    assert "modified:" in said[0]
    assert [q.scopes for q in talk.asked] == [(), ()]  # no rule would allow it
    assert "the repository sets filter.evil.clean" in talk.asked[0].why
    assert not repository.mark.exists()


@pytest.mark.scenario("W50", part="agent")
async def test_who_allowed_everything_for_this_time_is_not_asked_about_git(
    repository: Repository,
) -> None:
    repository.says(FILTER)
    async with talking(repository.home, Rule("allow", "*", typed=True)) as talk:
        assert "modified:" in await talk.does(call("shell", command="git status"))
    assert not repository.mark.exists()


@pytest.mark.scenario("P34", part="agent")
@pytest.mark.parametrize("how", ["workdir", "cd"])
async def test_git_is_asked_about_where_the_command_begins(
    repository: Repository, how: str
) -> None:
    repository.says(FILTER)
    rules = ("allow shell", "allow shell cd *", "allow shell git *")
    async with talking(repository.home.parent, *rules, cd_lasts=how == "cd") as talk:
        talk.answering(False)
        if how == "cd":
            await talk.does(call("shell", command=f"cd {repository.home.name}"))
            await talk.does(call("shell", command="git status"))
        else:
            await talk.does(call("shell", command="git status", workdir=repository.home.name))

    [question] = talk.asked
    assert "the repository sets filter.evil.clean" in question.why


@pytest.mark.scenario("P34", part="agent")
async def test_outside_of_the_repository_it_is_not_asked_about(repository: Repository) -> None:
    repository.says(FILTER)
    (repository.home / "plain").mkdir()
    repository.does("git init -q plain")
    async with talking(repository.home, "allow shell", cd_lasts=True) as talk:
        talk.answering(False)
        await talk.does(call("shell", command="cd plain"))
        said = await talk.does(call("shell", command="git status"))

    assert "No commits yet" in said
    assert talk.asked == []


@pytest.mark.scenario("P34", part="agent")
@pytest.mark.parametrize("judged", [False, True])
async def test_a_stop_ends_whoever_asks_git_and_names_them(
    repository: Repository, judged: bool
) -> None:
    config = repository.home / ".git" / "config"
    config.unlink()
    os.mkfifo(config)  # git waits for it
    async with talking(repository.home, "allow shell", "allow shell git *") as talk:
        talk.model.calls.append(call("shell", command="git status" if judged else "echo hi"))
        await talk.session.send("go")
        await until(lambda: is_read(config))
        assert talk.session.spans == ()  # nobody need be told of it
        receipt = await talk.session.stop()

    assert receipt.quiet
    [asking] = receipt.processes
    assert asking.command.startswith("git config, to know what")
    assert gone(asking.pid)


def is_read(fifo: Path) -> bool:
    try:
        os.close(os.open(fifo, os.O_WRONLY | os.O_NONBLOCK))
    except OSError:
        return False
    return True
