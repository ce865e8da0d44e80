"""Patterns for paths: what they match, and that none of them takes long."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lastword.agent.tools.glob import glob

PROMPT = 60.0  # seconds: a guard; what goes back and tries again takes years


@pytest.mark.parametrize(
    ("pattern", "paths", "others"),
    [
        ("*.py", ["a.py", ".py"], ["a.pyc", "sub/a.py", "apy"]),
        ("**/*.py", ["a.py", "sub/a.py", "sub/deep/a.py"], ["a.txt", "sub/a.py/b"]),
        ("**", ["a", "sub/a", ""], []),
        ("sub/**/c", ["sub/c", "sub/a/b/c"], ["c", "sub/a/bc", "subc"]),
        ("sub/?.*", ["sub/a.py"], ["sub/ab.py", "sub//.py"]),
        ("a[b].py", ["a[b].py"], ["ab.py"]),
    ],
)
def test_a_star_stays_in_its_directory_and_two_do_not(
    pattern: str, paths: list[str], others: list[str]
) -> None:
    matches = glob(pattern)

    assert [path for path in [*paths, *others] if matches(path)] == paths


@given(st.text("ab/*?", max_size=10), st.text("ab/\n", max_size=10))
def test_it_is_as_a_regular_expression_would_have_it(pattern: str, path: str) -> None:
    as_expression = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    parts: list[str] = re.findall(r"\*\*/|\*\*|\*|\?|[^*?]", pattern)
    expression = "".join(as_expression.get(part) or re.escape(part) for part in parts)

    assert glob(pattern)(path) == bool(re.fullmatch(expression, path, re.DOTALL))


def test_no_pattern_takes_long_although_a_regular_expression_would(tmp_path: Path) -> None:
    (tmp_path / ("a" * 28)).touch()
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / ("a" * 200)).touch()
    program = (
        "import sys; from lastword.agent.tools.files import Files; files = Files(sys.argv[1:])\n"
        "for bad in ('**' * 14 + '!', '*a' * 99 + '!', '**/' * 99 + '!', '**a' * 99 + '!'):\n"
        "    print(files.list_files(pattern=bad), files.search_files('x', glob=bad))\n"
    )

    done = subprocess.run(
        [sys.executable, "-c", program, tmp_path],
        stdout=subprocess.PIPE,
        timeout=PROMPT,
        check=True,
    )

    assert done.stdout.count(b"nothing matches") == 4
    assert done.stdout.count(b"0 files searched") == 4


def test_a_pattern_that_is_too_long_is_refused() -> None:
    with pytest.raises(ValueError, match="at most 1,000 characters, and this one has 1,001"):
        glob("*" * 1001)
