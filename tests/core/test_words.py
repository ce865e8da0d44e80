"""A person's plain word for stop is a stop; anything more is said to the agent."""

from __future__ import annotations

import pytest

from lastword.core.words import means_stop

pytestmark = pytest.mark.scenario("S18")


@pytest.mark.parametrize(
    "text",
    [
        *("stop", "STOP!!", "stop please", "/stop", "Please stop.", "stop, now!", "stop stop stop"),
        *(
            " Stop \n",
            "“stop”",
            "stop 🛑",
            "OK stop",
            "cancel",
            "\uff53\uff54\uff4f\uff50",
            "/stop please",
        ),
        *("停下来", "请停下来", "停\uff01", "停止。", "やめて", "止めてください", "멈춰", "그만!"),
        *("Hör auf!", "bitte aufhören", "Stopp bitte", "arrête, s'il te plaît", "ARRÊTE"),
        *(
            "arrête s\u2019il te plaît",
            "para, por favor",
            "¡Para!",
            "¡basta!",
            "fermati per favore",
        ),
        *("стоп", "Хватит!", "стоп, пожалуйста", "przestań proszę", "lütfen dur", "σταμάτα"),
        *("توقف", "עצור", "रुको", "कृपया रुकिए", "dừng lại", "หยุด", "berhenti", "sluta tack"),
        "arre\u0302te",
    ],
)
def test_a_plain_word_for_stop_is_a_stop(text: str) -> None:
    assert means_stop(text)


@pytest.mark.parametrize("text", ["stop \u26d4\ufe0f", "STOP\u203c\ufe0f"])
def test_a_stop_with_an_emoji_behind_it_is_a_stop(text: str) -> None:
    assert means_stop(text)


@pytest.mark.parametrize(
    "text",
    [
        *("don't stop now", "stop words list", "", "please", "para el coche", "   ", "!!", "ok"),
        *("stop the server", "how do I stop a process?", "non-stop", "stopwatch", "unstoppable"),
        *(
            "please please",
            "stop or go",
            "the bus stop",
            "/stopwords",
            "stop/",
            "stop\nthen build it",
        ),
        *(
            "不要停",
            "停车场在哪里",
            "no pares",
            "ne t'arrête pas",
            "nicht aufhören",
            "don't cancel",
        ),
        *("cancel my order", "abort the rebase", "enough about that, go on", "🛑"),
    ],
)
def test_anything_more_than_a_word_for_stop_is_a_message(text: str) -> None:
    assert not means_stop(text)
