"""Plain words that mean stop.

A message is a stop when it is nothing but a stop word, politeness and punctuation. Anything more
is a message: "stop words list" and "don't stop now" are said to the agent, not to lastword.
Surfaces that want this ask for it; nothing here is done behind a person's back.
"""

from __future__ import annotations

import unicodedata

_STOP_IN = {
    "English": "stop, /stop, halt, abort, cancel, stop it, stop that, enough",
    "German": "stopp, anhalten, aufhören, hör auf, abbrechen",
    "Dutch and Swedish": "ophouden, sluta, avbryt",
    "French": "arrête, arrete, arrêtez, arrêter",
    "Spanish and Portuguese": "para, pare, detente, detén, alto, basta, pára",
    "Italian, Polish and Turkish": "ferma, fermati, przestań, zatrzymaj, dur, durdur",
    "Russian, Ukrainian and Greek": "стоп, остановись, хватит, зупинись, σταμάτα",
    "Arabic, Hebrew and Hindi": "توقف, قف, עצור, תעצור, रुको, रुकिए, बंद करो",
    "Chinese": "停, 停下, 停下来, 停止, 停下來, 别说了",
    "Japanese and Korean": "止めて, やめて, ストップ, 中止, 멈춰, 그만, 중지",
    "Vietnamese, Thai and Indonesian": "dừng, dừng lại, หยุด, berhenti",
}
_POLITE_IN = {
    "English": "please, pls, plz, now, okay, ok",
    "German, Dutch and Swedish": "bitte, jetzt, alstublieft, tack",
    "French": "s'il te plaît, s'il vous plaît, stp",
    "Spanish, Italian, Polish and Turkish": "por favor, per favore, proszę, lütfen",
    "Russian and Hindi": "пожалуйста, कृपया",
    "Chinese, Japanese and Korean": "请, 請, 吧, ください, 주세요, 제발",
}
_STOP = frozenset(word for words in _STOP_IN.values() for word in words.split(", "))
_POLITE = tuple(word for words in _POLITE_IN.values() for word in words.split(", "))

_LONGEST = 200  # characters: who says more than that says something else


def means_stop(text: str) -> bool:
    """Whether a message is a person's plain word for stop."""
    if len(text) > _LONGEST:
        return False
    words = _without_politeness(_bare(text))
    if words in _STOP:
        return True
    each = {_bare(word) for word in words.split()}
    return len(each) == 1 and each <= _STOP  # said again and again


def _without_politeness(words: str) -> str:
    for polite in _POLITE:
        rest = _bare(words.removeprefix(polite).removesuffix(polite))
        if rest and rest != words:
            return _without_politeness(rest)
    return words


def _bare(text: str) -> str:
    """The words alone: one case, one form, no punctuation at the edges."""
    plain = unicodedata.normalize("NFKC", text).casefold().replace("\u2019", "'")
    plain = plain.replace("\ufe0f", "")  # the mark that makes a sign an emoji
    edges = "".join(c for c in plain if unicodedata.category(c)[0] in "PSZC" and c != "/")
    return " ".join(plain.strip(edges).split())
