"""Rules: which of them decides, and that no command line slips through one."""

import pytest

from lastword.agent.rules import SUBJECTS, Rule, Rules

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
        "git status \x15rm x",
        "\x0cgit status",
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
        "sudo -u root -g wheel rm -rf /",
        "env -i rm -rf /",
        "nice -n 5 rm -rf /",
        "timeout -s KILL 5 rm -rf /",
        "command -p rm -rf /",
        "bash -c 'rm -rf /'",
        "2>/dev/null rm -rf /",
        "true; rm > out -rf /",
        "A+=b rm -rf /",
        "a[0]=b rm -rf /",
        "rm \\\n-rf /",
        "r\\\nm -rf /",
        "true; rm -rf $HOME",
        "true; rm -rf {a,b}",
        "function f { rm -rf /; }",
    ],
)
def test_a_forbidden_command_is_found_among_others(line: str) -> None:
    assert RULES.decide("shell", line)[0] == "deny"


def test_a_word_before_a_command_is_a_command_too_and_an_argument_is_none() -> None:
    rules = Rules.parse(["allow shell", "deny shell sudo *", "deny shell rm *"])

    assert rules.decide("shell", "true; sudo ls")[0] == "deny"
    assert rules.decide("shell", "grep rm x")[0] == "allow"
    assert rules.decide("shell", "env grep rm x")[0] == "allow"


@pytest.mark.parametrize(
    "url",
    [
        "https://evil.com",
        "HTTPS://EVIL.com/",
        "https://evil.com:443/x",
        "https://evil.com./x?y#z",
        "https://\uff45vil.com/",
        "https://evil\u3002com/",
    ],
)
def test_an_address_is_the_same_however_it_is_written(url: str) -> None:
    subject = SUBJECTS["fetch"]({"url": url})

    for pattern in ("https://evil.com/*", "https://EVIL.com:443/*", "*://evil.com*", "*evil.com/*"):
        rules = Rules.parse(["allow fetch", f"deny fetch {pattern}"])
        assert rules.decide("fetch", subject)[0] == "deny", pattern


@pytest.mark.parametrize(
    ("url", "action"),
    [
        ("https://docs.python.org/3/", "allow"),
        ("https://docs.python.org/3?x=1", "allow"),
        ("https://docs.python.org:8443/3/", "ask"),
        ("http://docs.python.org/3/", "ask"),
        ("https://evil.com/?q=.python.org/", "ask"),
        ("https://evil.com/.python.org/", "ask"),
        ("https://evil.com#.python.org/", "ask"),
        ("https://docs.python.org.evil.com/", "ask"),
        ("https://example.org/docs/a", "allow"),
        ("https://example.org/docs/../admin", "ask"),
        ("https://example.org/docs/%2e%2E/admin", "ask"),
        ("https://example.net/a/b", "allow"),
        ("https://example.net.evil.com/", "ask"),
    ],
)
def test_a_pattern_for_a_host_or_a_path_allows_no_other(url: str, action: str) -> None:
    sites = ("*.python.org/*", "example.org/docs/*", "example.net")
    rules = Rules.parse(f"allow fetch https://{site}" for site in sites)

    assert rules.decide("fetch", SUBJECTS["fetch"]({"url": url}))[0] == action


@pytest.mark.parametrize("url", ["ftp://x/", "https://", "evil.com", "https://u:p@evil.com/"])
def test_what_is_no_address_is_about_nobody_knows_what(url: str) -> None:
    with pytest.raises(ValueError, match="not an address"):
        SUBJECTS["fetch"]({"url": url})


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


TYPED = Rules.parse(["allow shell_write ls *", "deny shell rm *"])


@pytest.mark.scenario("P32", part="agent")
@pytest.mark.parametrize(
    "text",
    [
        "ls x\x15touch y\n",  # the line is undone
        "ls x\x03touch y\n",
        "ls x\x7f\x7f\x7f\x7ftouch y\n",
        "ls x\x17\x17touch y\n",
        "ls x\x04",
        "ls x\x1atouch y\n",
        "ls x\x1b[Dtouch y\n",
        "ls x\x1bbtouch y\n",
        "ls x\x9bDtouch y\n",
        "ls x\x16\x15\n",
        "ls x\ttouch\n",  # a tab completes, and may run something for that
        "\tls x\n",
        "ls x\rtouch y\n",
        "ls x\x0btouch y\n",
        "ls x\x0c\n",
        "ls x\x1c",  # what Python strips is not blank to a terminal
        "ls x\x85",
        "ls x\ntouch y\n",
        "\nls x\n",
        "ls x\n\n",  # the second answers whatever is asked then
        "ls x\r\n",
        "ls !touch\n",  # a line of before
        "ls x\u0148touch y\n",  # a key with Meta in each byte, where the terminal is not UTF-8
        "ls x\udc88touch y\n",
    ],
)
def test_what_is_typed_and_could_be_more_than_a_line_of_text_is_allowed_by_no_pattern(
    text: str,
) -> None:
    assert TYPED.decide("shell_write", text)[0] == "ask"
    assert Rules.parse(["allow shell_write *touch*"]).decide("shell_write", text)[0] == "ask"
    assert Rules.parse(["allow shell_write"]).decide("shell_write", text)[0] == "allow"


@pytest.mark.scenario("P32", part="agent")
def test_one_line_of_text_is_allowed_to_be_typed_by_a_pattern() -> None:
    assert TYPED.decide("shell_write", "ls -l\n")[0] == "allow"
    assert TYPED.decide("shell_write", "ls 'a b'")[0] == "allow"
    assert TYPED.decide("shell_write", "rm x\n")[0] == "deny"
    assert Rules.parse(["allow shell_write *y"]).decide("shell_write", "^x^y\n")[0] == "ask"
