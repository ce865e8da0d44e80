"""A report as JUnit has it, for whatever draws test results.

A MUST that is broken is a failure. A SHOULD that is broken passes, with what was seen in its
output, unless it was asked for. What cannot be told is skipped, and says why.
"""

from __future__ import annotations

from xml.etree import ElementTree as Xml

from lastword.check.results import CheckReport, StoryResult


def text(reports: list[CheckReport], *, level: str = "must") -> str:
    """All targets, each a suite."""
    root = Xml.Element("testsuites", name="lastword check")
    for report in reports:
        suite = Xml.SubElement(root, "testsuite", name=str(report.target["name"]))
        for result in report.results:
            _case(suite, str(report.target["name"]), result, level)
        cases = list(suite)
        suite.set("tests", str(len(cases)))
        suite.set("failures", str(len(suite.findall("*/failure"))))
        suite.set("skipped", str(len(suite.findall("*/skipped"))))
        suite.set("time", str(report.seconds))
    Xml.indent(root)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + Xml.tostring(root, "unicode") + "\n"


def _case(suite: Xml.Element, target: str, result: StoryResult, level: str) -> None:
    case = Xml.SubElement(suite, "testcase", classname=target, name=result.story.id)
    fails = result.must or level == "should"
    rule = f"{result.story.words}.\nBroken if {result.story.rule}.\nSeen: {result.why}"
    if result.verdict == "broken" and fails:
        Xml.SubElement(case, "failure", message=result.why).text = rule
    elif result.verdict == "broken":
        Xml.SubElement(case, "system-out").text = f"SHOULD, and is broken. {rule}"
    elif result.verdict != "kept":
        Xml.SubElement(case, "skipped", message=f"{result.verdict}: {result.why}")
