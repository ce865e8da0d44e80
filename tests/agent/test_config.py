"""What a person has set once, and which model answers."""

from pathlib import Path

import pytest

from lastword.agent.config import BadConfig, Config, ServerSetting, found
from lastword.agent.models import ModelUnavailable, model_named


def written(folder: Path, text: str) -> Path:
    path = folder / "lastword.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_what_is_set_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOKEN", "secret")
    path = written(
        tmp_path,
        """
        model = "openai:gpt-5"
        rules = ["allow shell git *"]
        fetch = true
        [mcp.git]
        command = ["uvx", "git"]
        [mcp.docs]
        url = "https://example.org"
        headers = { Authorization = "Bearer ${TOKEN}" }
        """,
    )

    config = Config.read(path)

    assert (config.model, config.rules, config.fetch) == (
        "openai:gpt-5",
        ("allow shell git *",),
        True,
    )
    assert config.mcp == (
        ServerSetting("git", command=("uvx", "git")),
        ServerSetting(
            "docs", url="https://example.org", headers={"Authorization": "Bearer secret"}
        ),
    )


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("modle = 'x'", "there is no setting 'modle'; there are model"),
        ("model = 5", "model must be a str, not 5"),
        ("fetch = 'yes'", "fetch must be a bool"),
        ("rules = 'allow'", "rules must be a list of strings"),
        ("roots = [1]", "roots must be a list of strings"),
        ("= 3", "is not TOML"),
        ("mcp = 3", "MCP servers are tables"),
        ("[mcp]\ngit = 3", r"\[mcp.git\] must be a table"),
        ("[mcp.git]", r"\[mcp.git\] needs a command or a url"),
        ("[mcp.git]\ncommand = 'uvx'", "command must be a list of words"),
        ("[mcp.git]\nurl = 1", "url must be a string"),
        ("[mcp.git]\nurl = 'x'\ncommand = []", "and not both"),
        ("[mcp.git]\nurl = 'x'\nheaders = { a = 1 }", "headers must be a table of strings"),
        ("[mcp.git]\ncommand = []", "command must be a list of words"),
        ("[mcp.git]\ncommand = ['x']\nheaders = {}", "headers cannot be used with a command"),
        ("[mcp.git]\nurl = 'x'\ncwd = '.'", "cwd cannot be used with a url"),
        ("window = 0", "window must be more than 0 tokens, not 0"),
        ("roots = ['lost']", "roots: there is no directory 'lost'"),
        ("roots = ['~nobody-of-that-name/x']", "roots: there is no directory"),
        ("rules = ['permit shell']", "rules: 'permit shell' is not a rule"),
        ("[mcp.git]\nurl = 'x'\ncolour = 1", "there is no setting 'colour'"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, text: str, wrong: str) -> None:
    with pytest.raises(BadConfig, match=wrong) as raised:
        Config.read(written(tmp_path, text))
    assert "lastword.toml" in str(raised.value)


def test_the_file_here_comes_before_the_person_s_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, home = tmp_path / "here", tmp_path / "home" / "lastword"
    for folder, model in ((here, "a:here"), (home, "a:home")):
        folder.mkdir(parents=True)
        written(folder, f"model = '{model}'")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    environment = {"XDG_CONFIG_HOME": str(tmp_path / "home")}

    monkeypatch.chdir(here)
    assert found(environment=environment).config.model == "a:here"
    monkeypatch.chdir(elsewhere)
    assert found(environment=environment).config.model == "a:home"
    assert found(environment={"XDG_CONFIG_HOME": str(elsewhere)}).config == Config()
    with pytest.raises(BadConfig, match="cannot be read"):
        found(elsewhere / "lost.toml")


def test_a_file_that_another_editor_has_saved_is_read(tmp_path: Path) -> None:
    assert Config.read(written(tmp_path, "\ufeffmodel = 'a:b'")).model == "a:b"


def test_a_root_in_the_person_s_home_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "notes").mkdir()

    assert Config.read(written(tmp_path, "roots = ['~/notes']")).roots == (f"{tmp_path}/notes",)


def test_without_a_key_it_is_the_rehearsal() -> None:
    assert model_named(environment={}).model_name == "rehearsal"
    assert model_named("rehearsal", environment={"OPENAI_API_KEY": "k"}).model_name == "rehearsal"


def test_what_speaks_openai_s_language_is_found_by_its_address() -> None:
    own = model_named("tiny", base_url="http://127.0.0.1:1/v1", environment={})
    assert (own.model_name, own.base_url) == ("tiny", "http://127.0.0.1:1/v1/")


@pytest.mark.parametrize(
    ("name", "base_url", "wrong"),
    [
        ("gpt-5", None, "does not say whose it is; write openai:gpt-5"),
        ("openai:gpt-5", None, "OPENAI_API_KEY is not set"),
        ("nobody:gpt-5", None, "Unknown model"),
        ("tiny", "127.0.0.1", "must begin with http"),
        (None, "http://127.0.0.1", "say which model to ask"),
    ],
)
def test_a_model_that_cannot_be_had_is_said_in_a_line(
    name: str | None, base_url: str | None, wrong: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(ModelUnavailable, match=wrong) as raised:
        model_named(name, base_url=base_url, environment={})
    assert "\n" not in str(raised.value)
