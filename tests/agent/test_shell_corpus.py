"""P21. Command lines as models write them: each ends, answers or goes on, and none hangs."""

import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from lastword import Run, Runtime
from lastword.agent.tools.shell import Shell
from tests.promise.workshop import until

LONG = 300.0  # seconds: what has not ended by then hangs, on the slowest of machines
GIT = {
    "GIT_AUTHOR_NAME": "a",
    "GIT_AUTHOR_EMAIL": "a@b",
    "GIT_COMMITTER_NAME": "a",
    "GIT_COMMITTER_EMAIL": "a@b",
    "GIT_CONFIG_GLOBAL": "/dev/null",
}
REPOSITORY = """git init -q -b main . && git add notes.txt && git commit -q -m one
git checkout -q -b other && echo o > o && git add o && git commit -q -m other
git checkout -q main && echo two > two && git add two && git commit -q -m two
echo staged > staged && git add staged && echo more >> notes.txt"""


@dataclass(frozen=True)
class Line:
    """What a model writes, and what has to come of it."""

    text: str
    expected: str  # a regular expression
    needs: str = ""  # a program that may not be installed
    pty: bool = False
    stdin: bool = False
    typed: tuple[str, ...] = ()  # to one that goes on; with it, it ends


HEREDOC = "cat > made.txt <<'EOF'\n$HOME is \"quoted\"\nEOF\ncat made.txt"
PYTHON = "python3 - <<'PY'\nfor n in range(2):\n    print('n', n)\nPY"
NOHUP = "nohup sleep 300 > out.log 2>&1 &\necho started $!"
PAIRS = 'declare -A m=([a]=1); for k in "${!m[@]}"; do echo "$k=${m[$k]}"; done'
ENDS = [
    Line("[[ 5 -gt 3 && abc == a* ]] && echo yes", r"^yes\n\[exit code 0\]$"),
    Line("echo {1..3} {a,b}.txt", r"^1 2 3 a.txt b.txt\n"),
    Line('source ./env.sh && echo "$NAME"', r"^lastword\n"),
    Line("set -euo pipefail; false | true; echo never", r"^\[it wrote nothing\]\n\[exit code 1\]$"),
    Line("grep b <<< $'a\\nb'", r"^b\n"),
    Line('arr=(one two three); echo "${arr[@]:1}" ${#arr[@]}', r"^two three 3\n"),
    Line("diff <(echo a) <(echo b)", r"< a\n---\n> b\n\[exit code 1\]"),
    Line(HEREDOC, r'^\$HOME is "quoted"\n\[exit code 0\]'),
    Line(PYTHON, r"^n 0\nn 1\n\[exit code 0\]", "python3"),
    Line(PAIRS, r"^a=1\n"),
    Line("mapfile -t lines < <(printf 'x\\ny\\n'); echo ${#lines[@]}", r"^2\n"),
    Line('[[ v12.3 =~ ^v([0-9]+) ]] && echo "${BASH_REMATCH[1]}"', r"^12\n"),
    Line("trap 'echo cleaned' EXIT; exit 4", r"^cleaned\n\[exit code 4\]"),
    Line("select x in a b; do echo chose $x; break; done; echo after", r"after\n\[exit code 0\]"),
    Line('read -p "Continue? [y/N] " answer; echo "got:$answer"', r"^got:\n"),
    Line("read -s password || echo none", r"^none\n"),
    Line("yes | head -3", r"^y\ny\ny\n\[exit code 0\]"),
    Line("seq 3 | while read -r n; do echo $((n * n)); done", r"^1\n4\n9\n"),
    Line("for f in *.txt; do echo ${f%.txt}; done", r"^notes\n"),
    Line("exec 3<>/dev/tcp/127.0.0.1/9 || echo refused", r"refused|exit code 1"),
    Line("function greet { local who=${1:-you}; echo hi ${who^^}; }; greet me", r"^hi ME\n"),
    Line("(( 2 ** 10 == 1024 )) && printf '%(%Y)T\\n' -1", r"^\d{4}\n"),
    Line("cat", r"^\[it wrote nothing\]\n\[exit code 0\]"),
    Line("git commit", r"Aborting commit due to empty commit message", "git"),
    Line("git commit --amend", r"two\n", "git"),
    Line("git log", r"(?s)commit .*two.*\[exit code 0\]", "git"),
    Line("git diff", r"\+more", "git"),
    Line("git add -p", r"Stage this hunk", "git"),
    Line("git stash -q && git rebase -i HEAD~1", r"Successfully rebased", "git"),
    Line("git stash -q && git merge --no-ff other", r"Merge made by", "git"),
    Line("git tag -a v1", r"no tag message", "git"),
    Line("git clone -q http://127.0.0.1:9/x.git", r"\[exit code 128\]", "git"),
    Line("git log", r"(?s)commit .*two.*\[exit code 0\]", "git", pty=True),
    Line("less notes.txt", r"^first\n", "less"),
    Line("less notes.txt", r"^first\n", "less", pty=True),
    Line("more notes.txt", r"^(:+\n.*\n:+\n)?first\n", "more"),
    Line("man bash | head -5; echo ${PIPESTATUS[0]}", r"\[exit code 0\]", "man"),
    Line("nano notes.txt", r"\[exit code", "nano"),
    Line("ed notes.txt", r"^6\n\[exit code 0\]", "ed"),
    Line("$EDITOR notes.txt && $VISUAL notes.txt; echo $?", r"^0\n"),
    Line("crontab -e", r"\[exit code", "crontab"),
    Line("sudo -k; sudo true", r"\[exit code \d", "sudo"),
    Line("ssh -o ConnectTimeout=5 nobody@127.0.0.1 -p 9 true", r"\[exit code 255\]", "ssh"),
    Line("ssh-keygen -q -t ed25519 -f key; ls key*", r"key", "ssh-keygen"),
    Line("python3", r"\[exit code 0\]", "python3"),
    Line("python3 -c 'input(\"name? \")'", r"EOFError", "python3"),
    Line("node", r"\[exit code 0\]", "node"),
    Line("bash -i -c 'echo inside'", r"inside", "bash"),
    Line("sqlite3 test.db", r"\[exit code 0\]", "sqlite3"),
    Line("psql -h 127.0.0.1 -p 9 -U me", r"\[exit code 2\]", "psql"),
    Line("top", r"\[exit code", "top"),
    Line("tmux", r"\[exit code 1\]", "tmux"),
    Line("apt-get install -s no-such-package", r"\[exit code 100\]", "apt-get"),
    Line("npm init", r"\[exit code", "npm"),
    Line("docker login 127.0.0.1:9", r"\[exit code 1\]", "docker"),
    Line("curl -s --max-time 5 http://127.0.0.1:9/; echo $?", r"^7\n", "curl"),
    Line(NOHUP, r"^started \d+\n\[exit code 0\]"),
    Line("sleep 300 & echo beside", r"^beside\n\[exit code 0\]"),
    Line("(sleep 300 &); echo detached; disown -a", r"^detached\n\[exit code 0\]"),
    Line("timeout 1 tail -f notes.txt", r"^first\n\[exit code 124\]", "timeout"),
    Line("tput cols; stty size; clear; echo $TERM", r"dumb\n\[exit code 0\]"),
]
GOES_ON = [
    Line("python3 -u -m http.server 0 --bind 127.0.0.1", r"Serving HTTP", "python3"),
    Line("tail -f notes.txt", r"^first$"),
    Line("while true; do date +%Y; sleep 1; done", r"^\d{4}$"),
    Line("node -e 'console.log(\"up\"); setInterval(() => {}, 1000)'", r"^up$", "node"),
    Line("bash", r"^42$", stdin=True, typed=("echo $((6 * 7))\n", "exit\n")),
    Line("cat", r"^one$", stdin=True, typed=("one\n",)),
    Line("python3", r"^42", "python3", pty=True, typed=("print(6 * 7)\n", "exit()\n")),
    Line("vim notes.txt", r"first", "vim"),  # which then reads its keys from its errors
    Line("vim notes.txt", r"first", "vim", pty=True, typed=(":q!\r",)),
    Line("read -s -p 'Password: ' it; echo $it", r"Password: ", pty=True, typed=("secret\n",)),
    Line("watch -n 1 date", r"\d{4}", "watch", pty=True),
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "notes.txt").write_text("first\n")
    (tmp_path / "env.sh").write_text("NAME=lastword\n")
    return tmp_path


def shell_for(line: Line, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Shell:
    if line.needs and not shutil.which(line.needs):
        pytest.skip(f"{line.needs} is not installed here")
    monkeypatch.setenv("HOME", str(folder))
    for name, value in GIT.items():
        monkeypatch.setenv(name, value)
    if line.needs == "git":
        subprocess.run(["/bin/sh", "-c", REPOSITORY], cwd=folder, check=True)
    return Shell(folder)


def test_there_are_fifty_at_least() -> None:
    assert len(ENDS) + len(GOES_ON) >= 50


@pytest.mark.scenario("P21")
@pytest.mark.parametrize("line", ENDS, ids=lambda line: line.text[:40] + " (pty)" * line.pty)
async def test_it_ends_or_answers(
    line: Line, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shell, told = shell_for(line, folder, monkeypatch), list[str]()

    async def engine(run: Run) -> None:
        told.append(await shell.run(run, line.text, wait=LONG, pty=line.pty))

    async with Runtime(engine, level="tree", grace=0.1) as r:
        ticket = await r.session("s").send("go")
        await ticket.outcome()
        assert not ticket.error

    assert re.search(line.expected, told[0]), told[0]
    assert "[it goes on as" not in told[0]


@pytest.mark.scenario("P21")
@pytest.mark.parametrize("line", GOES_ON, ids=lambda line: line.text[:40])
async def test_it_goes_on_and_ends_when_it_is_asked_to(
    line: Line, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shell, told = shell_for(line, folder, monkeypatch), list[str]()

    async def engine(run: Run) -> None:
        text = await shell.run(run, line.text, wait=0, pty=line.pty, stdin=line.stdin)
        assert "[it goes on as" in text
        [job] = [job for job in run.jobs if job.alive]
        for typed in line.typed[:1] if re.match(r"\^", line.expected) else ():
            await shell.write(run, job.id, typed)
        await until(lambda: re.search(line.expected, told_of(job.output), re.MULTILINE))
        for typed in line.typed:
            await shell.write(run, job.id, typed, end=line.stdin and typed == line.typed[-1])
        if line.typed:
            await until(lambda: job.code is not None)
        told.append(await shell.end(run, job.id))

    async with Runtime(engine, level="tree", grace=0.1) as r:
        ticket = await r.session("s").send("go")
        await ticket.outcome()
        assert not ticket.error

    assert "has ended" in told[0]


def told_of(output: str) -> str:
    return output.replace("\r\n", "\n")
