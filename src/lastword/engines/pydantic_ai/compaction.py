"""Who is asked for a summary of a long history: the agent's own model (`kit.compaction`)."""

from __future__ import annotations

from pydantic_ai.direct import model_request
from pydantic_ai.messages import ModelRequest, TextPart, UserPromptPart
from pydantic_ai.models import KnownModelName, Model

from lastword.engines.kit.compaction import Summarise
from lastword.runtime.run import Run


def asking(run: Run, model: Model | KnownModelName | str) -> Summarise:
    """Asks it, at the run's cost."""

    async def ask(text: str) -> str:
        answer = await model_request(model, [ModelRequest([UserPromptPart(text)])])
        usage = answer.usage
        run.costs(answer.model_name or "", usage.input_tokens, usage.output_tokens)
        return "".join(part.content for part in answer.parts if isinstance(part, TextPart))

    return ask
