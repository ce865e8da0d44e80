"""What is kept of a story that was not kept, so that nobody has to believe us."""

from __future__ import annotations

import json
import re
from pathlib import Path

from lastword.check.results import StoryRun
from lastword.check.stage import Stage
from lastword.check.story import Story


def keep(folder: Path, story: Story, run: StoryRun, stage: Stage, began: float) -> str:
    """The wire, the journal, the model's requests and the errors of one run; the folder's name."""
    number = 1
    while (place := folder / f"{story.id}-{run.carrier or 'run'}-{number}").exists():
        number += 1
    place.mkdir(parents=True)
    verdict = {"story": story.id, "rule": story.rule, "verdict": run.verdict, "why": run.why}
    _write(place / "verdict.json", {**verdict, "seen": run.seen, "timeline": run.timeline})
    lines = [
        f"{at - began:9.3f} {way:8} {what.rstrip()}"
        for at, way, what in stage.target.wire.since(began)
    ]
    (place / "wire.log").write_text("\n".join(lines), encoding="utf-8", errors="replace")
    requests = [
        {"at": round(r.when - began, 3), "path": r.path, "sent": r.sent, "body": r.body}
        for r in stage.model.provider.requests
        if r.when >= began
    ]
    _write(place / "requests.json", requests)
    deeds = [deed for one in stage.rounds for deed in stage.deeds.of(one.run)]
    _write(place / "journal.json", deeds)
    errors = stage.premises.folder / "stderr.log"
    if errors.exists():
        text = errors.read_text(encoding="utf-8", errors="replace")
        (place / "stderr.log").write_text(re.sub(r"\x1b\[[0-9;]*m", "", text), encoding="utf-8")
    return place.name


def _write(path: Path, what: object) -> None:
    text = json.dumps(what, indent=1, default=str, ensure_ascii=False)
    path.write_text(text, encoding="utf-8", errors="replace")
