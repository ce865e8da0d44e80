"""What the commands of an agent are given to run in.

They have the person's environment, without the keys with which models are asked. And git, which
runs programs that a repository names in its settings, runs none of those: a repository may have
been downloaded, and `git status` in it is a question, not an order.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path

from lastword.agent.tools.git import told_git
from lastword.agent.tools.repository import look
from lastword.runtime.run import Run

_PROVIDERS = """
AI21 AI_GATEWAY ALIBABA ANTHROPIC AZURE AZURE_AI AZURE_OPENAI AZURE_VOICELIVE BEDROCK CEREBRAS
CLAUDE COHERE COPILOT CRUSOE DASHSCOPE DATABRICKS DEEPGRAM DEEPINFRA DEEPSEEK ELEVENLABS FAL
FIREWORKS FRIENDLI GEMINI GIGACHAT GITHUB_API GITHUB_COPILOT GITHUB_MODELS GOOGLE GROK GROQ
HEROKU_INFERENCE HF HUGGINGFACE HUGGINGFACEHUB HUGGING_FACE LASTWORD LITELLM META MISTRAL MODAL
MOONSHOT MOONSHOTAI NEBIUS NVIDIA OLLAMA OPENAI OPENROUTER OVHCLOUD PAIG PERPLEXITY PYDANTIC_AI
REPLICATE SAMBANOVA SNOWFLAKE SYSTEM_ONE TOGETHER TOGETHERAI TYPESAFE VERCEL_AI VERCEL_OIDC VERTEX
VLLM VOYAGE WATSONX XAI ZAI ZHIPU"""  # whose models can be asked; and our own
_KEYS = re.compile(
    rf"(\w+_)?({'|'.join(_PROVIDERS.split())})_"
    r"(\w*_)?(APIKEYS?|KEYS?|TOKENS?|SECRETS?|CREDENTIALS?|PASSWORD|AUTH)(_\w*)?"
    r"|(\w+_)?API_?KEYS?(_\w*)?|AWS_BEARER_TOKEN_\w+"
)  # whatever is called an API key, too: nobody knows every provider
_TELLING = 16  # characters: what is shorter may be a word, and stand in many variables
_QUIET = {
    "AWS_PAGER": "",
    "DEBIAN_FRONTEND": "noninteractive",
    "EDITOR": "true",
    "GH_PAGER": "cat",
    "GH_PROMPT_DISABLED": "1",
    "GIT_ASKPASS": "",
    "GIT_EDITOR": "true",
    "GIT_MERGE_AUTOEDIT": "no",
    "GIT_PAGER": "cat",
    "GIT_PROXY_COMMAND": "",
    "GIT_SEQUENCE_EDITOR": "true",
    "GIT_TERMINAL_PROMPT": "0",
    "LESS": "-FRXd",
    "MANPAGER": "cat",
    "NO_COLOR": "1",
    "NPM_CONFIG_YES": "true",
    "PAGER": "cat",
    "PIP_NO_INPUT": "1",
    "SSH_ASKPASS_REQUIRE": "never",
    "SUDO_ASKPASS": "/bin/false",
    "SYSTEMD_PAGER": "cat",
    "TERM": "dumb",
    "VISUAL": "true",
}  # nobody is at the keyboard; and these win over what a repository sets
_UNLESS_SET = {"GIT_ALLOW_PROTOCOL": "file:git:http:https:ssh", "GIT_SSH_COMMAND": "ssh"}


async def for_commands(
    run: Run, environment: Mapping[str, str], cwd: str | os.PathLike[str]
) -> dict[str, str]:
    """For what a run starts in a directory. It asks git for the settings of the repository there.

    Where git cannot say, or there are too many, git itself does not work; all other programs do.
    """
    keyless = without_keys(environment)  # also for git, which others of the run can look at
    given = _UNLESS_SET | keyless | _QUIET
    found = await look(run, Path(cwd), keyless)
    off = {} if found.known else {"GIT_DIR": f"{os.devnull}/{found.why}"}
    return given | told_git(found.instead, environment) | off


def without_keys(environment: Mapping[str, str]) -> dict[str, str]:
    """Without the keys of any provider, also where one stands under another name."""
    keys = {name for name in environment if is_key(name)}
    values = {environment[name] for name in keys if len(environment[name]) >= _TELLING}
    return {n: v for n, v in environment.items() if n not in keys and v not in values}


def is_key(name: str) -> bool:
    """Whether a variable of that name holds what a provider's models are asked with."""
    return bool(_KEYS.fullmatch(name.upper()))
