"""What the CLI is given to run in: what it needs, and what a team gives it by name.

Its shells can read all of it. So it has no keys but those with which its own model is asked, and
nothing of lastword's. What else a team's commands need is said in the options' `env`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from claude_agent_sdk import ClaudeAgentOptions
from claude_agent_sdk import __version__ as sdk_version

_NEEDED = re.compile(
    r"PATH|HOME|USER|LOGNAME|SHELL|LANG|LANGUAGE|LC_\w+|TZ|TERM|TMPDIR|TMP|TEMP"
    r"|SSL_CERT_(FILE|DIR)|NODE_EXTRA_CA_CERTS|(HTTPS?|ALL|NO)_PROXY"
    r"|ANTHROPIC_\w+|CLAUDE_(CODE|AGENT_SDK)_\w+|API_TIMEOUT_MS|DISABLE_\w+"
    r"|(MCP|MAX)_\w+|BASH_(DEFAULT|MAX)_\w+",
    re.IGNORECASE,
)
_OF_ANOTHER = re.compile(  # a CLI in which this program was started: its session and its door
    r"CLAUDE_CODE_(SESSION|CHILD|MESSAGING|EXECPATH|ENTRYPOINT|TMPDIR|RESUME)\w*"
)
_CLOUDS = {
    "CLAUDE_CODE_USE_BEDROCK": re.compile(r"AWS_\w+"),
    "CLAUDE_CODE_USE_VERTEX": re.compile(r"GOOGLE_\w+|GCLOUD_PROJECT|CLOUD_ML_REGION|VERTEX_\w+"),
    "CLAUDE_CODE_USE_FOUNDRY": re.compile(r"AZURE_\w+"),
}  # that have Claude's models, and the keys with which they are asked
_QUIET = {
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "DISABLE_AUTOUPDATER": "1",
    "DISABLE_ERROR_REPORTING": "1",
    "DISABLE_TELEMETRY": "1",
}  # unless somebody says otherwise


def for_cli(
    inherited: Mapping[str, str], options: ClaudeAgentOptions, home: str, cwd: str
) -> dict[str, str]:
    """The whole environment of one CLI, which keeps its files in `home`."""
    return {
        **_QUIET,
        **needed(inherited, options.env),
        "CLAUDE_CODE_ENTRYPOINT": "sdk-py",
        **options.env,
        **_asked(options),
        "CLAUDE_AGENT_SDK_VERSION": sdk_version,
        "CLAUDE_CODE_DISABLE_BACKGROUND_TASKS": "1",  # they would end with the answer, unseen
        "CLAUDE_CONFIG_DIR": home,
        "CLAUDE_CODE_TMPDIR": home,
        "PWD": cwd,
    }


def needed(inherited: Mapping[str, str], given: Mapping[str, str]) -> dict[str, str]:
    """What of this program's own environment goes on to the CLI."""
    both = {**inherited, **given}
    clouds = [names for use, names in _CLOUDS.items() if both.get(use, "") not in ("", "0")]
    return {
        name: value
        for name, value in inherited.items()
        if (_NEEDED.fullmatch(name) and not _OF_ANOTHER.fullmatch(name))
        or any(names.fullmatch(name) for names in clouds)
    }


def _asked(options: ClaudeAgentOptions) -> dict[str, str]:
    """What the SDK says by variables of its own options."""
    asked: dict[str, str] = {}
    if options.client_app is not None:
        asked["CLAUDE_AGENT_SDK_CLIENT_APP"] = options.client_app
    if options.enable_file_checkpointing:
        asked["CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING"] = "true"
    return asked
