"""A recipe as the stories of tests/engines know an engine: told what to do by a scripted model."""

import inspect
from functools import wraps

from lastword.engines.kit import wait_for
from lastword.testing.provider import Answer, Call, Provider


class Scripted:
    """An engine whose provider plays the script."""

    task = "task"  # what a tool in which another agent works is given

    def __init__(self, provider, engine, add, inside):
        self.provider, self.engine, self.tool = provider, engine, add
        self.inside = inside  # makes such a tool

    @property
    def steered(self):
        return [self.provider.requests[-1].prompt]

    def answer(self, *parts, paced=False):
        return self.provider.answer(*parts, paced=paced)

    def end(self, text):
        """An answer that ends the turn."""
        return text

    def fail(self):
        self.provider.fail(500, "scripted to fail")


class Finishing(Provider):
    """For a framework whose model answers by a call of `final_answer`."""

    def answer(self, *parts, **given):
        return super().answer(*_finished(parts), **given)

    def say(self, *chunks, **given):
        return self.answer(*chunks, **given)

    def always(self, script):
        super().always(lambda request: Answer(*_finished(script(request).parts)))


def _finished(parts):
    if any(isinstance(part, Call) for part in parts):
        return parts
    text = "".join(part if isinstance(part, str) else part.text for part in parts)
    return [Call("final_answer", {"answer": text})]


def not_async(tool):
    """The tool as a framework wants it that is not async: it waits in its thread."""

    @wraps(tool)
    def waits(*args, **kwargs):
        made = tool(*args, **kwargs)
        return wait_for(made) if inspect.iscoroutine(made) else made

    return waits
