"""Plain words that mean stop.

A message is a stop when it is nothing but a stop word, politeness and punctuation. Anything more
is a message: "stop words list" and "don't stop now" are said to the agent, not to lastword.
Surfaces that want this ask for it; nothing here is done behind a person's back.
"""

from __future__ import annotations

import unicodedata

_STOP = frozenset(
    (
        *("stop", "/stop", "halt", "abort", "cancel", "stop it", "stop that", "enough"),
        *("stopp", "anhalten", "aufhören", "hör auf", "abbrechen"),  # German
        *("ophouden", "sluta", "avbryt"),  # Dutch, Swedish
        *("arrête", "arrete", "arrêtez", "arrêter"),  # French
        *("para", "pare", "detente", "detén", "alto", "basta", "pára"),  # Spanish, Portuguese
        *("ferma", "fermati", "przestań", "zatrzymaj", "dur", "durdur"),  # Italian, Polish, Turkish
        *("стоп", "остановись", "хватит", "зупинись", "σταμάτα"),  # Russian, Ukrainian, Greek
        *("توقف", "قف", "עצור", "תעצור", "रुको", "रुकिए", "बंद करो"),  # Arabic, Hebrew, Hindi
        *("停", "停下", "停下来", "停止", "停下來", "别说了"),  # Chinese
        *("止めて", "やめて", "ストップ", "中止", "멈춰", "그만", "중지"),  # Japanese, Korean
        *("dừng", "dừng lại", "หยุด", "berhenti"),  # Vietnamese, Thai, Indonesian
    )
)
_POLITE = (
    *("please", "pls", "plz", "now", "okay", "ok", "bitte", "jetzt", "alstublieft", "tack"),
    *("s'il te plaît", "s'il vous plaît", "stp", "por favor", "per favore", "proszę", "lütfen"),
    *("пожалуйста", "कृपया", "请", "請", "吧", "ください", "주세요", "제발"),
)

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
