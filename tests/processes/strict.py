"""The levels at which nobody gets away, as parameters; the one that needs a control group, where
this user has one to use."""

from __future__ import annotations

import os
import shutil
import subprocess

import pytest

from lastword.errors import ProcessError
from lastword.processes.cgroups import Allowance, groups


def _why_no_groups() -> str:
    try:
        made = groups(Allowance(most=10))
    except ProcessError as error:
        return str(error)
    made.close()
    return ""


def _why_no_namespaces() -> str:
    """Root may make them; an ordinary user where the kernel lets them."""
    if os.geteuid() == 0:
        return ""
    unshare = shutil.which("unshare")
    tried = unshare and subprocess.run([unshare, "-Ur", "--pid", "--fork", "true"], check=False)
    return "" if tried and tried.returncode == 0 else "this user may make no namespaces"


NO_GROUPS, NO_NAMESPACES = _why_no_groups(), _why_no_namespaces()
BEST_OF_AN_ORDINARY_USER = "tree" if NO_GROUPS else "cgroup"
BEST = "sealed" if os.geteuid() == 0 else BEST_OF_AN_ORDINARY_USER
STRICT = (
    pytest.param("sealed", marks=pytest.mark.skipif(bool(NO_NAMESPACES), reason=NO_NAMESPACES)),
    pytest.param("cgroup", marks=pytest.mark.skipif(bool(NO_GROUPS), reason=NO_GROUPS)),
    "tree",
)
AT_EACH = pytest.mark.parametrize("level", STRICT)
