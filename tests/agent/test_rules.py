"""Rules: which of them decides, and that no command line slips through one."""

import pytest

from lastword.agent.rules import Rule, Rules

RULES = Rules.parse(
    ["allow read_file", "ask shell", "deny shell rm -rf *", "allow shell git status*"]
)


@pytest.mark.parametrize(
    ("tool", "subject", "action"),
    [
        ("read_file", "anything", "allow"),
        ("write_file", "anything", "ask"),  # no rule speaks of it
        ("shell", "ls", "ask"),
        ("shell", "git status", "allow"),
        ("shell", "  git status --short ", "allow"),
        ("shell", "git commit", "ask"),
        ("shell", "rm -rf /", "deny"),
        ("shell", None, "deny"),  # it may be what is forbidden
    ],
)
def test_the_rule_that_says_most_decides_and_a_deny_is_final(
    tool: str, subject: str | None, action: str
) -> None:
    assert RULES.decide(tool, subject)[0] == action
    backwards = Rules(RULES.rules[::-1])
    assert backwards.decide(tool, subject)[0] == action


@pytest.mark.parametrize(
    "line",
    [
        "git status; rm x",
        "git status && rm x",
        "git status || rm x",
        "git status | sh",
        "git status & rm x",
        "git status\nrm x",
        "git status\rrm x",
        "git status `rm x`",
        "git status $(rm x)",
        "git status ${x:-y}",
        "git status <(rm x)",
        "git status > .bashrc",
        "git status \\\nrm",
        "git status '; rm x'",  # harmless, and asked all the same
        "(git status)",
        "x=1 git status",
    ],
)
def test_an_allowed_command_allows_no_other_beside_it(line: str) -> None:
    assert RULES.decide("shell", line)[0] == "ask"
    assert Rules.parse(["ask shell", "allow shell *"]).decide("shell", line)[0] == "ask"
    assert Rules.parse(["allow shell *"]).decide("shell", line)[0] == "allow"
    assert Rules.parse(["allow shell"]).decide("shell", line)[0] == "allow"


@pytest.mark.parametrize(
    "line",
    [
        "git status; rm -rf /",
        "true && rm   -rf /",
        "sudo rm -rf /",
        "X=1 env Y=2 rm -rf /",
        "/bin/rm -rf /",
        "echo $(rm -rf /)",
        "'rm' -rf /",
        "if true; then rm -rf /; fi",
        "{ rm -rf /; }",
    ],
)
def test_a_forbidden_command_is_found_among_others(line: str) -> None:
    assert RULES.decide("shell", line)[0] == "deny"


def test_where_two_rules_say_as_much_the_stricter_wins() -> None:
    rules = Rules.parse(["ask shell git push*", "allow shell git *", "allow *", "ask mcp_*"])

    assert rules.decide("shell", "git log")[0] == "allow"
    assert rules.decide("shell", "git push origin")[0] == "ask"
    assert rules.decide("read_file", "x")[0] == "allow"
    assert rules.decide("mcp_mail", "x")[0] == "ask"


def test_what_was_allowed_to_the_letter_allows_nothing_else() -> None:
    for text in ("*", "", "git push *"):
        rules = RULES.also(Rule("allow", "shell", text, exact=True))

        assert rules.decide("shell", text)[0] == "allow"
        assert rules.decide("shell", "git push --force")[0] == "ask"


def test_a_pattern_allows_no_call_of_which_nobody_knows_what_it_is_about() -> None:
    rules = Rules.parse(["allow shell git *", "allow fetch"])

    assert rules.decide("shell", None)[0] == "ask"
    assert rules.decide("fetch", None)[0] == "allow"


@pytest.mark.parametrize("line", ["", "allow", "permit shell", "deny  "])
def test_what_is_no_rule_is_refused_by_name(line: str) -> None:
    with pytest.raises(ValueError, match="is not a rule: it takes one of allow, ask, deny"):
        Rules.parse([line])
    assert str(Rule.parse(" deny shell  rm -rf * ")) == "deny shell rm -rf *"
