"""What a module may do that forks would suffer from, and what is said of it."""

MISDEEDS = {
    "thread": (
        "import threading; threading.Thread(target=threading.Event().wait, "
        "name='busy', daemon=True).start()",
        r"starts a thread \(busy\)",
    ),
    "descriptor": ("left = open(__file__)", "leaves open .*some_tools.py"),
    "process": (
        "import subprocess; left = subprocess.Popen(['sleep', '1000'])",
        "leaves a process",
    ),
    "daemon": ("os.system('setsid sleep 1000 & sleep 0')", "leaves a process"),
    "signal": ("import signal; signal.signal(signal.SIGCHLD, print)", "takes over SIGCHLD"),
    "alarm": ("import signal; signal.setitimer(signal.ITIMER_REAL, 1000)", "sets an alarm"),
    "os": ("os.fork = lambda: 0", r"replaces os\.fork"),
    "socket": ("import socket; socket.socket = object", r"replaces socket\.socket"),
    "select": ("import select; select.poll = object", r"replaces select\.poll"),
    "reading": ("os.pread = lambda *_: b''", r"replaces os\.pread"),
    "json": ("import json; json.dumps = repr", r"replaces json\.dumps"),
    "method": (
        "import selectors; selectors.DefaultSelector.select = print",
        r"replaces selectors\.\w+\.select",
    ),
    "thread at a fork": (
        "import threading; os.register_at_fork(after_in_child=lambda: threading.Thread("
        "target=threading.Event().wait, name='busy', daemon=True).start())",
        r"has every fork start a thread \(busy\)",
    ),
    "thread here at a fork": (
        "import threading; os.register_at_fork(after_in_parent=lambda: threading.Thread("
        "target=threading.Event().wait, name='busy', daemon=True).start())",
        r"has every fork start a thread \(busy\)",
    ),
    "descriptor at a fork": (
        "os.register_at_fork(after_in_child=lambda: os.open(__file__, os.O_RDONLY))",
        "has every fork open .*some_tools.py",
    ),
    "no fork": (
        "sys.addaudithook(lambda what, _: 1 / 0 if what == 'os.fork' else None)",
        "has every fork raise ZeroDivisionError",
    ),
    "error": ("raise KeyError('here')", "importing it raised KeyError: 'here'"),
}
