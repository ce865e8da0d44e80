"""The pages that are made from the code. Run, it writes them; a test holds them to the code."""

from __future__ import annotations

from tests.docs import made_command_line, made_http
from tests.scenarios import ROOT

REFERENCE = ROOT / "docs" / "reference"
MADE = {
    REFERENCE / "command-line.md": made_command_line.written,
    REFERENCE / "http.md": made_http.operations,
    REFERENCE / "http-types.md": made_http.types,
}


def main() -> None:
    for page, written in MADE.items():
        page.write_text(written(), encoding="utf-8")


if __name__ == "__main__":
    main()
