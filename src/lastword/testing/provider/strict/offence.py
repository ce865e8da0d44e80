"""A rule that providers keep, and a request's breach of it.

Every rule says where it is known from, in the name of a document or of a server that was met
refusing; none is a guess. Its code is stable: tests and reports go by it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

Severity: TypeAlias = Literal["refused", "advice"]


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule. What breaks one that is only advice is taken, and recorded.

    `kind` is what OpenAI's errors have as their code; Anthropic's have none.
    """

    code: str
    source: str
    severity: Severity = "refused"
    status: int = 400
    kind: str | None = None

    def broken(self, message: str, at: str | None = None) -> Offence:
        """A breach, in words like the provider's, and where it is."""
        return Offence(self, message, at)


@dataclass(frozen=True, slots=True)
class Offence:
    """One breach of a rule."""

    rule: Rule
    message: str
    at: str | None = None

    @property
    def code(self) -> str:
        return self.rule.code

    @property
    def severity(self) -> Severity:
        return self.rule.severity

    def __str__(self) -> str:
        return f"{self.code}: {self.message}"


class Refused(Exception):
    """The provider would refuse the request."""

    def __init__(self, offence: Offence) -> None:
        super().__init__(offence.message)
        self.offence = offence
