"""Scripts that run in their own process, since they are killed, forked or interrupted.

Each starts with the same lines and ends with ``sound()``. Only one that hangs takes `SECONDS`, and is killed.
"""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable

SECONDS = 300

PRELUDE = '''
import os, signal, sys, threading, time, warnings
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.alarm(290)
warnings.simplefilter("ignore")
import pyarrow as pa
import deltaic
from deltaic import _rust

def say(text):
    sys.stdout.write(text + "\\n")
    sys.stdout.flush()

def attempt(work):
    try:
        work()
        say("finished")
    except KeyboardInterrupt:
        say("interrupted")

def press_when(ready):
    """Ctrl-C as soon as something holds; looked for on another thread, since the main one is busy."""
    def look():
        while not ready():
            time.sleep(0.001)
        os.kill(os.getpid(), signal.SIGINT)
    threading.Thread(target=look, daemon=True).start()

def is_inside():
    """Whether the main thread is in a function of the package, and has let go of the interpreter there."""
    main = threading.main_thread().ident
    package = os.path.dirname(deltaic.__file__)
    return sys._current_frames()[main].f_code.co_filename.startswith(package)

def forked(work):
    """Runs in a child that ends at once; gives what it said, which is empty where it hung."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            signal.alarm(280)
            text = str(work())
        except BaseException as error:
            text = f"{type(error).__name__}: {error}"
        os.write(writing, text.encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        text = pipe.read()
    assert os.waitpid(child, 0)[1] == 0, text
    return text

def sound():
    """Nothing broke off on the way, on whatever thread."""
    broken = getattr(_rust, "panics", list)()
    say(f"broke off at {broken}" if broken else "sound")
'''


def run(script: str, *arguments: str, code: int = 0) -> list[str]:
    """Runs a script; returns the lines that it printed."""
    return finish(start(script, *arguments), code)


def start(script: str, *arguments: str, environment: dict[str, str] | None = None) -> subprocess.Popen[str]:
    """Starts a script, with pipes to its stdin and stdout."""
    return subprocess.Popen(
        [sys.executable, "-c", PRELUDE + textwrap.dedent(script), *arguments],
        env={**os.environ, **(environment or {})},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(process: subprocess.Popen[str], code: int = 0) -> list[str]:
    """Waits until a script ends; returns the lines that it printed."""
    try:
        said, complained = process.communicate(timeout=SECONDS)
    finally:
        process.kill()
    assert process.returncode == code, complained
    assert not complained.strip(), complained
    return said.splitlines()


def until(ready: Callable[[], bool], process: subprocess.Popen[str]) -> None:
    """Waits for a condition that a script makes true."""
    while not ready():
        assert process.poll() is None, process.communicate()[1]
        time.sleep(0.001)
