"""For each rule of Anthropic's messages: a request that breaks it, and one that does not."""

from typing import Any

from tests.testing.breaches_openai import MB, Breach, Made
from tests.testing.histories import (
    MARKS,
    PDF,
    ZIP,
    body,
    document,
    image,
    jpeg,
    png,
    said,
    text,
    thought,
    tool,
    use,
    used,
    user,
)

SYSTEM = {"role": "system", "content": "be quick"}
READ = [tool()]


def asked(*messages: Any, **more: Any) -> Made:
    return lambda: body("anthropic", list(messages), **more)


def called(*uses: Any, answers: list[Any] | None = None, **more: Any) -> Made:
    """Tools that were used, and their results: the right ones, if none are given."""
    given = [used(one["id"]) for one in uses] if answers is None else answers
    return asked(user(), said(list(uses)), user(given), tools=READ, **more)


def thinks(config: dict[str, Any], model: str = "claude-sonnet-4-5", **more: Any) -> Made:
    return asked(user(), thinking=config, model=model, **{"max_tokens": 4096, **more})


def cached(n: int) -> Made:
    return asked(user([text() | {"cache_control": {"type": "ephemeral"}}] * n))


ENABLED = {"type": "enabled", "budget_tokens": 1024}

MESSAGES: dict[str, Breach] = {
    "anthropic.too_large": (
        "anthropic",
        lambda: body("anthropic", [user("x" * 32 * MB)]),
        lambda: body("anthropic", [user("x" * (32 * MB - 99))]),
    ),
    "anthropic.no_max_tokens": ("anthropic", asked(user(), max_tokens=None), asked(user())),
    "anthropic.no_messages": ("anthropic", asked(), asked(user())),
    "anthropic.too_many_messages": (
        "anthropic",
        lambda: body("anthropic", [user()] * 100_001),
        lambda: body("anthropic", [user()] * 1000),
    ),
    "anthropic.role": ("anthropic", asked({"role": "tool", "content": "x"}), asked(user())),
    "anthropic.first": ("anthropic", asked(said(), user()), asked(user(), said(), user())),
    "anthropic.system_place": (
        "anthropic",
        asked(user(), said(), SYSTEM, user()),
        asked(user(), SYSTEM, said(), user(), SYSTEM),
    ),
    "anthropic.system_model": (
        "anthropic",
        asked(user(), SYSTEM, model="claude-sonnet-4-5"),
        asked(user(), SYSTEM, model="claude-opus-4-8"),
    ),
    "anthropic.prefill": (
        "anthropic",
        asked(user(), said("so"), model="claude-opus-4-8"),
        asked(user(), said("so"), model="claude-sonnet-4-5-20250929"),
    ),
    "anthropic.trailing_space": (
        "anthropic",
        asked(user(), said("so "), model="claude-haiku-4-5"),
        asked(user(), said("so "), user(), model="claude-haiku-4-5"),
    ),
    "anthropic.empty_content": ("anthropic", asked(user([])), asked(user([text()]))),
    "anthropic.blank_text": ("anthropic", asked(user([image(png()), text(" ")])), asked(user("."))),
    "anthropic.block": (
        "anthropic",
        asked(user([{"type": "video", "source": {}}])),
        asked(user([text()])),
    ),
    "anthropic.block_role": ("anthropic", asked(user([use()])), called(use())),
    "anthropic.thinking_last": (
        "anthropic",
        asked(user(), said([thought()]), user()),
        asked(user(), said([thought(), text()]), user()),
    ),
    "anthropic.thinking_signature": (
        "anthropic",
        asked(user(), said([thought(signature="of another"), text()]), user()),
        asked(user(), said([thought(), text()]), user()),
    ),
    "anthropic.thinking_place": (
        "anthropic",
        asked(user(), said([text(), thought(), text()]), user()),
        asked(user(), said([thought(), text(), thought(), text()]), user()),
    ),
    "anthropic.thinking_lost": (
        "anthropic",
        called(use(MARKS.use(0, thought=True)), thinking=ENABLED, max_tokens=2048),
        called(use(MARKS.use(0, thought=True)), thinking={"type": "adaptive"}),
    ),
    "anthropic.thinking_config": (
        "anthropic",
        thinks(ENABLED, model="claude-opus-4-8"),
        thinks({"type": "adaptive"}, model="claude-opus-4-8"),
    ),
    "anthropic.too_many_cached": ("anthropic", cached(5), cached(4)),
}

TOOLS: dict[str, Breach] = {
    "anthropic.tool_name": ("anthropic", called(use(name="a.b")), called(use(name="x" * 128))),
    "anthropic.double_tool": (
        "anthropic",
        asked(user(), tools=[tool("a"), tool("a")]),
        asked(user(), tools=[tool("a"), tool("b")]),
    ),
    "anthropic.tool_schema": (
        "anthropic",
        asked(user(), tools=[tool(anyOf=[{}])]),
        asked(user(), tools=[tool(properties={"a.b-c_1": {}})]),
    ),
    "anthropic.no_tools": (
        "anthropic",
        asked(user(), said([use()]), user([used()])),
        called(use()),
    ),
    "anthropic.use_id": ("anthropic", called(use("call|fc")), called(use("x" * 64))),
    "anthropic.double_use": ("anthropic", called(use("a"), use("a")), called(use("a"), use("b"))),
    "anthropic.use_input": ("anthropic", called(use(input="{}")), called(use(input={"a": 1}))),
    "anthropic.no_result": ("anthropic", called(use(), answers=[text()]), called(use())),
    "anthropic.orphan_result": ("anthropic", asked(user([used()])), called(use())),
    "anthropic.double_result": ("anthropic", called(use(), answers=[used()] * 2), called(use())),
    "anthropic.late_result": (
        "anthropic",
        called(use(), answers=[text(), used()]),
        called(use(), answers=[used(), text()]),
    ),
    "anthropic.split_results": (
        "anthropic",
        asked(user(), said([use("a"), use("b")]), user([used("a")]), user([used("b")])),
        asked(user(), said([use("a"), use("b")]), user([used("a"), used("b")]), user()),
    ),
    "anthropic.error_empty": (
        "anthropic",
        called(use(), answers=[used(content="") | {"is_error": True}]),
        called(use(), answers=[used(content="")]),
    ),
    "anthropic.error_not_text": (
        "anthropic",
        called(use(), answers=[used(content=[image(png())]) | {"is_error": True}]),
        called(use(), answers=[used(content=[image(png())])]),
    ),
    "anthropic.result_empty": (
        "anthropic",
        called(use(), answers=[used(content=[text("")])]),
        called(use(), answers=[used(content=[])]),
    ),
    "anthropic.result_blank": (
        "anthropic",
        called(use(), answers=[used(content=[text("\n")])]),
        called(use(), answers=[used(content="\n")]),
    ),
    "anthropic.result_part": (
        "anthropic",
        called(use(), answers=[used(content=[{"type": "audio"}])]),
        called(use(), answers=[used(content=[text(), document(PDF)])]),
    ),
}

FILES: dict[str, Breach] = {
    "anthropic.image_type": (
        "anthropic",
        asked(user([image(jpeg(), "image/jpg")])),
        asked(user([image(jpeg(), "image/jpeg")])),
    ),
    "anthropic.image_empty": ("anthropic", asked(user([image(b"")])), asked(user([image(png())]))),
    "anthropic.image_base64": (
        "anthropic",
        asked(user([image(png()) | {"source": image(png())["source"] | {"data": "%%"}}])),
        asked(user([{"type": "image", "source": {"type": "url", "url": "https://a.org/b"}}])),
    ),
    "anthropic.image_unreadable": (
        "anthropic",
        asked(user([image(ZIP)])),
        asked(user([image(png())])),
    ),
    "anthropic.image_label": (
        "anthropic",
        asked(user([image(jpeg(), "image/png")])),
        asked(user([image(jpeg(), "image/jpeg")])),
    ),
    "anthropic.image_too_large": (
        "anthropic",
        lambda: body("anthropic", [user([image(png(size=8 * MB))])]),
        lambda: body("anthropic", [user([image(png(size=7 * MB))])]),
    ),
    "anthropic.image_heavy": (
        "anthropic",
        lambda: body("anthropic", [user([image(png(size=4 * MB))])]),
        lambda: body("anthropic", [user([image(png(size=3 * MB))])]),
    ),
    "anthropic.image_too_wide": (
        "anthropic",
        asked(user([image(jpeg(10, 8001), "image/jpeg")])),
        asked(user([image(jpeg(10, 8000), "image/jpeg")])),
    ),
    "anthropic.image_wide": (
        "anthropic",
        asked(user([image(png(1569, 10))])),
        asked(user([image(png(1568, 10))])),
    ),
    "anthropic.too_many_images": (
        "anthropic",
        lambda: body("anthropic", [user([image(png())] * 101)]),
        lambda: body("anthropic", [user([image(png())] * 100)]),
    ),
    "anthropic.document_type": (
        "anthropic",
        asked(user([document(ZIP, "application/vnd.openxmlformats-officedocument")])),
        asked(user([document(PDF)])),
    ),
    "anthropic.document_invalid": (
        "anthropic",
        asked(user([document(b"no such thing")])),
        asked(user([document(PDF)])),
    ),
}

ANTHROPIC = MESSAGES | TOOLS | FILES
