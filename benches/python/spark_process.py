"""The process of one way to read, controlled from outside: started, queried, and killed if it hangs."""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

CHILD = Path(__file__).resolve().parent / "spark_child.py"
TIMEOUT = 900


class SparkProcess:
    """A child process and its JVM, started on first use, and again after they had to be stopped."""

    def __init__(self, way: str, log: Path) -> None:
        self.way = way
        self.absent = ""
        """Why this way is not measured at all."""
        self.release = ""
        self._log = log
        self._child: subprocess.Popen[str] | None = None
        self._lines: queue.Queue[str] = queue.Queue()

    def ask(self, **asked: Any) -> dict[str, Any]:
        """Returns the child's response; `failed` or `absent` if it has no answer."""
        if not self.absent and self._child is None:
            said = self._start()
            self.absent, self.release = said.get("absent", ""), said.get("release", "")
            if "release" not in said:
                self.stop()
                return said
        if self.absent or self._child is None:
            return {"absent": self.absent}
        assert self._child.stdin is not None
        try:
            self._child.stdin.write(json.dumps(asked) + "\n")
            self._child.stdin.flush()
        except BrokenPipeError:
            self.stop()
            return {"failed": "its process had ended"}
        return self._heard()

    def stop(self) -> None:
        """Stops the child and its JVM; kills them if they do not end."""
        child, self._child = self._child, None
        if child is None:
            return
        assert child.stdin is not None
        try:
            child.stdin.close()
            child.wait(timeout=30)
        except (OSError, subprocess.TimeoutExpired):
            pass
        try:
            os.killpg(child.pid, signal.SIGKILL)
        except ProcessLookupError:
            return
        child.wait()

    def _start(self) -> dict[str, Any]:
        self._lines = queue.Queue()
        self._log.parent.mkdir(parents=True, exist_ok=True)
        with self._log.open("a", encoding="utf-8") as log:
            # A separate session, so that its processes can be identified, and killed together.
            self._child = subprocess.Popen(
                [sys.executable, str(CHILD), self.way],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                start_new_session=True,
            )
        threading.Thread(target=listen, args=(self._child, self._lines), daemon=True).start()
        return self._heard()

    def _heard(self) -> dict[str, Any]:
        try:
            line = self._lines.get(timeout=TIMEOUT)
        except queue.Empty:
            line, why = "", f"no answer after {TIMEOUT} s"
        else:
            why = "its process ended"
        if line:
            return json.loads(line)
        self.stop()
        return {"failed": why}


def listen(child: subprocess.Popen[str], lines: queue.Queue[str]) -> None:
    """Forwards the child's responses, and an empty line at its end; ignores the JVM's output."""
    assert child.stdout is not None
    for line in child.stdout:
        if line.startswith("{"):
            lines.put(line)
    lines.put("")
