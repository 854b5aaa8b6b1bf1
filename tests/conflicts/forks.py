"""Runs modules of this folder in forks of one process that has imported deltaic, so that each starts at once.

The process itself accesses no table, so that deltaic has no threads in it. A library may be preloaded.
"""

from __future__ import annotations

import functools
import importlib
import json
import os
import signal
import socket
import subprocess
import sys
import traceback
from pathlib import Path
from typing import Any, NoReturn

MODULES = ("appender", "changer", "cleaner", "maintainer", "row_changer")
HANGS_AFTER = 3600
"""Seconds after which a fork is killed; only one that hangs runs for so long."""


class Fork:
    """A process that runs the `main` of a module, with its standard input and output as text files."""

    def __init__(
        self,
        module: str,
        *arguments: Any,
        environment: dict[str, str] | None = None,
        library: Path | None = None,
    ) -> None:
        _, self._server = _server(library)
        itself, here = os.pipe(), os.pipe()
        request = {
            "module": module,
            "arguments": arguments,
            "environment": {**os.environ, **(environment or {})},
        }
        self._pid = _ask(self._server, request, itself[0], here[1])
        os.close(itself[0])
        os.close(here[1])
        self.stdin = os.fdopen(itself[1], "w")
        self.stdout = os.fdopen(here[0])
        self.returncode: int | None = None

    def wait_until_ready(self) -> None:
        """Waits until it has printed ``ready``."""
        assert self.stdout.readline() == "ready\n"

    def go(self) -> None:
        """Writes the line that it waits for."""
        self.stdin.write("go\n")
        self.stdin.flush()

    def poll(self) -> int | None:
        """Returns the exit code, negative for a signal; None while it runs."""
        if self.returncode is None:
            self.returncode = _ask(self._server, {"wait": self._pid, "options": os.WNOHANG})
        return self.returncode

    def end(self) -> str:
        """Closes its input and waits for its end; returns the rest of its output."""
        self.stdin.close()
        with self.stdout:
            rest = self.stdout.read()
        if self.returncode is None:
            self.returncode = _ask(self._server, {"wait": self._pid, "options": 0})
        return rest


def _ask(server: socket.socket, request: dict[str, Any], *descriptors: int) -> Any:
    socket.send_fds(server, [json.dumps(request).encode()], descriptors)
    answer = server.recv(100)
    assert answer, "the process that forks has ended"
    return json.loads(answer)


@functools.cache
def _server(library: Path | None) -> tuple[subprocess.Popen[bytes], socket.socket]:
    """Starts the process that forks; it ends when this process closes the socket."""
    here, there = socket.socketpair()
    environment = {**os.environ, **({"LD_PRELOAD": str(library)} if library else {})}
    command = [sys.executable, "-m", __name__, str(there.fileno())]
    process = subprocess.Popen(command, pass_fds=[there.fileno()], stdin=subprocess.DEVNULL, env=environment)
    there.close()
    return process, here


def _serve(client: socket.socket) -> None:
    for module in MODULES:
        importlib.import_module(f"tests.conflicts.{module}")
    while True:
        text, descriptors, _, _ = socket.recv_fds(client, 1 << 20, 2)
        if not text:
            return
        request = json.loads(text)
        if "wait" in request:
            pid, status = os.waitpid(request["wait"], request["options"])
            answer = os.waitstatus_to_exitcode(status) if pid else None
        else:
            answer = os.fork()
            if answer == 0:
                client.close()
                _run(request, descriptors)
            for descriptor in descriptors:
                os.close(descriptor)
        client.send(json.dumps(answer).encode())


def _run(request: dict[str, Any], descriptors: list[int]) -> NoReturn:
    code = 1
    try:
        signal.alarm(HANGS_AFTER)
        for standard, descriptor in enumerate(descriptors):
            os.dup2(descriptor, standard)
            os.close(descriptor)
        os.environ.clear()
        os.environ.update(request["environment"])
        importlib.import_module(f"tests.conflicts.{request['module']}").main(*request["arguments"])
        sys.stdout.flush()
        code = 0
    except BaseException:  # noqa: BLE001 (the process ends)
        traceback.print_exc()
    finally:
        os._exit(code)


if __name__ == "__main__":
    _serve(socket.socket(fileno=int(sys.argv[1])))
