"""`lastword` alone, at a terminal: chat if that is set up, and else what can be done.

Chat is set up when it is installed and a model was chosen: the environment has a provider's key, or
lastword.toml names a model. Who has chosen none would talk to a rehearsal, and is told so first.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import metadata
from pathlib import Path

from lastword.errors import LastwordError
from lastword.extras import how_to_install, is_installed

_NEEDED = ("agent", "chat", "server")
_WELCOME = """\
lastword {version}: an agent runtime in which stop means stop.

{commands}

{more}
Every command: lastword --help
More to read:  {docs}"""
_INSTALL = "serve, chat and acp need more than is installed here. Run:\n  {how}"
_CHOOSE = """\
Without a model you talk to a rehearsal, which is none and needs no key. Set
OPENAI_API_KEY or ANTHROPIC_API_KEY, or a model in lastword.toml, and `lastword`
alone opens chat."""


def is_set_up() -> bool:
    """Whether chat is what a person wants who says nothing else."""
    if not is_installed("agent") or not is_installed("chat"):
        return False
    from lastword.agent.choice import REHEARSAL, chosen  # noqa: PLC0415 - only when asked for
    from lastword.agent.config import found  # noqa: PLC0415

    try:
        return bool(found().config.model) or chosen().name != REHEARSAL
    except LastwordError:  # a setting is wrong: `lastword chat` says which
        return False


def welcome(commands: Mapping[str, str]) -> str:
    """What can be done, in a screen."""
    rows = [f"  lastword {name:<9}{what}" for name, what in commands.items()]
    missing = [extra for extra in _NEEDED if not is_installed(extra)]
    return _WELCOME.format(
        version=metadata.version("lastword"),
        commands="\n".join(rows),
        more=_INSTALL.format(how=how_to_install(missing)) if missing else _CHOOSE,
        docs=_docs(),
    )


def _docs() -> str:
    root = Path(__file__).resolve().parents[3]
    is_a_copy = (root / "docs" / "promise.md").is_file()
    return f"README.md and docs/ in {root if is_a_copy else 'its source'}"
