"""Histories of a folder, at random: answers, stops, kills, and what somebody else does meanwhile.
What is taken back is as it was, what is not is named, and nothing else is touched."""

import json
import random
import shutil
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import pytest

from lastword.agent.undo.undo import NothingToUndo, redo, undo
from tests.agent.to_the_letter import Talk, call, talking
from tests.agent.trees import tree
from tests.promise.workshop import until

Tree = dict[str, tuple[str, int, bytes]]
_FILES = ("a", "b", "c.txt", "d/a", "d/e/b", "g/c")
_FOLDERS = ("d", "d/e", "g")


@dataclass
class Answered:
    """One answer: how all was before and after it, and what was killed with it."""

    before: Tree
    after: Tree
    killed: bool


def command(chance: random.Random) -> str:
    one, other, folder = chance.choice(_FILES), chance.choice(_FILES), chance.choice(_FOLDERS)
    word = chance.randrange(1000)
    return chance.choice(
        [
            f"mkdir -p $(dirname {one}); echo {word} > {one}",
            f"echo {word} >> {one}",
            f"printf '\\0{word}' > {one}",
            f"rm -f {one}",
            f"mv {one} {other}",
            f"cp {one} {other}",
            f"chmod {chance.choice(['600', '644', '755'])} {one}",
            f"ln -sfn {other} {one}",
            f"rm -rf {folder}",
            f"mkdir -p {folder}",
            f"rm -rf {folder}; echo {word} > {folder}",
            f"mv {folder} {chance.choice(_FOLDERS)}",
            f"chmod {chance.choice(['700', '755', '2775'])} {folder}",
            f"ln -f {one} {other}",
            f"ln -sfn {folder} {one}",
        ]
    )


def commands(chance: random.Random) -> str:
    return "; ".join(command(chance) for _ in range(chance.randint(1, 5)))


def calls(chance: random.Random) -> list[tuple[str, str]]:
    made = list[tuple[str, str]]()
    for _ in range(chance.randint(1, 3)):
        if chance.random() < 0.5:
            text = f"{chance.randrange(1000)}\n"
            made.append(call("write_file", path=chance.choice(_FILES), text=text))
        else:
            made.append(call("shell", command=commands(chance)))
    return made


def somebody(folder: Path, chance: random.Random) -> None:
    """Who is no part of it, and works there too."""
    subprocess.run(
        ["/bin/sh", "-c", commands(chance)], cwd=folder, capture_output=True, check=False
    )


class Folder:
    """A folder, and what happens in it."""

    def __init__(self, at: Path, chance: random.Random) -> None:
        self.at, self.chance = at / "work", chance
        self.now = at / "now"
        self.store = f"sqlite:{at / 's.db'}"
        self.answers: list[Answered] = []
        self.at.mkdir(parents=True)
        for name in chance.sample(_FILES, 4):
            path = self.at / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"{name}\n", encoding="utf-8")

    async def answer(self, how: Literal["ends", "stopped", "killed"]) -> None:
        before = tree(self.at)
        made = calls(self.chance)
        if how != "ends":
            line = f"{commands(self.chance)}; echo > ../now; sleep 1000"
            made.append(call("shell", command=line))
        self.now.unlink(missing_ok=True)
        if how == "killed":
            self._killed(made)
        else:
            async with talking(self.at, "allow *", store=self.store) as talk:
                await self._made(talk, made, stopped=how == "stopped")
        self.answers.append(Answered(before, tree(self.at), how == "killed"))

    def _killed(self, made: list[tuple[str, str]]) -> None:
        victim = [sys.executable, "-m", "tests.agent.undo_victim", str(self.at), self.store]
        done = subprocess.run([*victim, json.dumps(made)], check=False)
        assert done.returncode == -signal.SIGKILL

    async def _made(self, talk: Talk, made: list[tuple[str, str]], *, stopped: bool) -> None:
        if not stopped:
            await talk.does(*made)
            return
        talk.model.calls += made
        await talk.session.send("go")
        await until(self.now.exists)
        assert (await talk.session.stop()).quiet

    async def take_all_back(self) -> None:
        """From the last to the first; each is brought back, and taken back again."""
        async with talking(self.at, store=self.store) as talk:
            for answer in self.answers[::-1]:
                now = tree(self.at)
                if answer.before == answer.after:
                    continue
                left = await self._taken_back(talk, answer, now)
                if left:
                    return  # what stands in the way is somebody else's: so it is for those before
                back = tree(self.at)
                if back != now:
                    assert not (await redo(talk.session)).left
                    assert tree(self.at) == now
                    assert not (await undo(talk.session)).left
                    assert tree(self.at) == back

    async def _taken_back(self, talk: Talk, answer: Answered, now: Tree) -> set[str]:
        try:
            done = await undo(talk.session)
        except NothingToUndo:
            return set(answer.before)
        left = {path for path, _ in done.left}
        self._check(answer, now, tree(self.at), left)
        return left

    def _check(self, answer: Answered, now: Tree, then: Tree, left: set[str]) -> None:
        for path in now.keys() | then.keys() | answer.before.keys() | answer.after.keys():
            was, became = answer.before.get(path), answer.after.get(path)
            if path in left or was == became:
                assert then.get(path) == now.get(path), f"{path} was touched"
            else:
                assert then.get(path) == was, f"{path} is not as it was"
        assert answer.killed or all(self._is_somebody_elses(one, answer, now) for one in left)

    @staticmethod
    def _is_somebody_elses(path: str, answer: Answered, now: Tree) -> bool:
        """There, below it, or above it."""
        touched = {
            one for one in now.keys() | answer.after if now.get(one) != answer.after.get(one)
        }
        return any(
            one == path or one.startswith(f"{path}/") or path.startswith(f"{one}/")
            for one in touched
        )


@pytest.mark.scenario("U11")
async def test_what_is_taken_back_is_as_it_was_and_nothing_else_is_touched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, histories: int, seed: int
) -> None:
    for number in range(histories):
        chance = random.Random(f"{seed} {number}")
        here = tmp_path / str(number)
        monkeypatch.setenv("XDG_STATE_HOME", str(here / "state"))
        folder = Folder(here, chance)
        try:
            for _ in range(chance.randint(1, 3)):
                how = chance.choices(("ends", "stopped", "killed"), (6, 3, 1))[0]
                await folder.answer(how)
                if chance.random() < 0.3:
                    somebody(folder.at, chance)
            await folder.take_all_back()
        except BaseException as error:
            error.add_note(f"history {number} of seed {seed}")
            raise
        shutil.rmtree(here)
