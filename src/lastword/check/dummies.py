"""What a program is told so that it asks our model: by the variables that the providers' own
clients read. The keys are no keys."""

from __future__ import annotations

from collections.abc import Mapping

KEY = "no-key-at-all"
ASK_US: Mapping[str, str] = {
    "OPENAI_API_KEY": KEY,
    "OPENAI_BASE_URL": "{url}/v1",
    "ANTHROPIC_API_KEY": KEY,
    "ANTHROPIC_BASE_URL": "{url}",
    "GEMINI_API_KEY": KEY,
    "GOOGLE_API_KEY": KEY,
    "GOOGLE_GEMINI_BASE_URL": "{url}",
    "NO_PROXY": "127.0.0.1,localhost",
    "NO_COLOR": "1",
}
