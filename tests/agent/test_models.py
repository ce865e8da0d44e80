"""Keys: as they were pasted, or refused by name in one line that does not show them."""

import pytest
from pydantic_ai.models.openai import OpenAIChatModel

from lastword.agent.models import ModelUnavailable, model_named
from lastword.agent.rehearsal import Rehearsal


def test_what_was_pasted_around_a_key_is_not_sent() -> None:
    own = model_named("openai:gpt-5", environment={"OPENAI_API_KEY": " key\n"})
    assert own.provider
    assert own.provider.client.api_key == "key"


@pytest.mark.parametrize("base_url", [None, "http://127.0.0.1:1/v1"])
@pytest.mark.parametrize("key", ["clé-secrète", "two\nlines"])
def test_a_key_that_cannot_be_one_is_refused_by_name_and_not_shown(
    key: str, base_url: str | None
) -> None:
    with pytest.raises(ModelUnavailable, match="OPENAI_API_KEY has a character") as raised:
        model_named("openai:gpt-5", base_url=base_url, environment={"OPENAI_API_KEY": key})
    assert key not in str(raised.value)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("key", "system"),
    [
        ("OPENAI_API_KEY", "openai"),
        ("ANTHROPIC_API_KEY", "anthropic"),
        ("GOOGLE_API_KEY", "google"),
        ("GEMINI_API_KEY", "google"),
    ],
)
def test_a_key_alone_says_whose_model_it_is(
    key: str, system: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GOOGLE_API_KEY", "GEMINI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    assert model_named(environment={key: "k"}).system == system


def test_blanks_are_no_key() -> None:
    assert model_named(environment={"OPENAI_API_KEY": " \n"}).model_name == "rehearsal"


def test_an_address_in_the_environment_is_asked_in_the_words_that_most_servers_know() -> None:
    env = {"OPENAI_BASE_URL": "http://127.0.0.1:1/v1"}
    for name, asked in ((None, "gpt-5.2"), ("openai:mine", "mine")):
        model = model_named(name, environment=env)
        assert isinstance(model, OpenAIChatModel)
        assert (model.model_name, model.base_url) == (asked, "http://127.0.0.1:1/v1/")
    assert isinstance(model_named("rehearsal", environment=env), Rehearsal)
