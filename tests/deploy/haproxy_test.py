#!/usr/bin/env python3
"""Two real servers behind HAProxy with deploy/haproxy/haproxy.cfg: one is killed, one is drained.

usage: haproxy_test.py BUILD_DIR      (needs Debian's haproxy)
"""
import http.client
import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Fleet:
    def __init__(self, build, folder):
        self.build, self.folder = build, folder
        self.model = folder / "nano.nmc"
        subprocess.run([build / "bin/convert", "--quiet", ROOT / "models/cohere2moe-nano", self.model], check=True)
        self.ports = {"a": free_port(), "b": free_port()}
        self.port = free_port()
        self.admin_path = folder / "admin.sock"
        self.processes = {}
        for name in self.ports:
            self.start(name)
        env = {**os.environ, "NMC_ADMIN_SOCKET": str(self.admin_path), "NMC_LISTEN": f"127.0.0.1:{self.port}",
               **{f"NMC_SERVER_{n.upper()}": f"127.0.0.1:{p}" for n, p in self.ports.items()}}
        self.processes["haproxy"] = subprocess.Popen(
            ["haproxy", "-db", "-f", ROOT / "deploy/haproxy/haproxy.cfg"], env=env,
            stdout=open(folder / "haproxy.log", "w"), stderr=subprocess.STDOUT)
        self.wait_up("a", "b")

    def start(self, name):
        self.processes[name] = subprocess.Popen(
            [self.build / "bin/server", "-m", self.model, "--port", str(self.ports[name]), "--device", "reference"],
            stdout=open(self.folder / f"{name}.log", "w"), stderr=subprocess.STDOUT)

    def kill(self, name):
        self.processes[name].send_signal(signal.SIGKILL)
        self.processes[name].wait()

    def close(self):
        for process in self.processes.values():
            process.kill()
            process.wait()

    def admin(self, command):
        with socket.socket(socket.AF_UNIX) as s:
            s.connect(str(self.admin_path))
            s.sendall(command.encode() + b"\n")
            return b"".join(iter(lambda: s.recv(65536), b"")).decode()

    def stat(self, backend, server, field):
        lines = self.admin("show stat").splitlines()
        names = lines[0].removeprefix("# ").split(",")
        for line in lines[1:]:
            row = dict(zip(names, line.split(",")))
            if (row.get("pxname"), row.get("svname")) == (backend, server):
                return row[field]

    def wait_up(self, *names):
        deadline = time.time() + 60
        while time.time() < deadline:
            try:
                if all(self.stat("by_load", n, "status").startswith("UP") for n in names):
                    return
            except OSError:
                pass
            time.sleep(0.2)
        raise SystemExit("the servers did not come up:\n" + (self.folder / "haproxy.log").read_text())

    def ask(self, session=None, stream=False, max_tokens=4):
        """The finish reason; raises when the answer is not whole."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        headers = {"content-type": "application/json", **({"x-session-id": session} if session else {})}
        body = {"prompt": "Hello", "max_tokens": max_tokens, "ignore_eos": True, "stream": stream}
        connection.request("POST", "/v1/completions", json.dumps(body), headers)
        response = connection.getresponse()
        text = response.read().decode()
        if response.status != 200:
            raise RuntimeError(f"{response.status}: {text}")
        if not stream:
            return json.loads(text)["choices"][0]["finish_reason"]
        if "data: [DONE]" not in text:
            raise RuntimeError("the stream was cut")
        return "stream"


class Load:
    """Some clients that ask one question after the other."""

    def __init__(self, fleet, clients=4):
        self.failures, self.answers, self.over = [], 0, False
        self.threads = [threading.Thread(target=self.run, args=(fleet,)) for _ in range(clients)]
        for thread in self.threads:
            thread.start()

    def run(self, fleet):
        while not self.over:
            begun = time.time()
            try:
                fleet.ask()
                self.answers += 1
            except Exception as error:
                self.failures.append((begun, error))

    def end(self, killed_at=0.0):
        """Nothing may have failed but answers that were on their way when their server was killed."""
        self.over = True
        for thread in self.threads:
            thread.join()
        cut = [e for begun, e in self.failures if begun < killed_at and isinstance(e, http.client.IncompleteRead)]
        assert len(cut) == len(self.failures), self.failures
        assert self.answers > 5, self.answers


def test_sessions_stay(fleet):
    for session in ("one", "two", "three"):
        before = {n: int(fleet.stat("by_session", n, "stot")) for n in "ab"}
        for _ in range(3):
            fleet.ask(session)
        grown = sorted(int(fleet.stat("by_session", n, "stot")) - before[n] for n in "ab")
        assert grown == [0, 3], grown


def test_a_killed_server_is_not_noticed(fleet):
    load = Load(fleet)
    time.sleep(1)
    # Streams of the other server go on.
    streams = []
    while int(fleet.stat("by_load", "b", "scur")) == 0:
        time.sleep(0.01)
    other = threading.Thread(target=lambda: streams.append(fleet.ask("stays", True, 64)))
    fleet.admin("set server by_session/a state maint")  # so that this stream is with b
    other.start()
    time.sleep(0.2)
    killed_at = time.time()
    fleet.kill("a")
    time.sleep(4)
    load.end(killed_at)
    other.join()
    assert streams == ["stream"], streams
    fleet.admin("set server by_session/a state ready")
    fleet.start("a")
    fleet.wait_up("a", "b")


def test_a_drained_server_can_be_replaced(fleet):
    load = Load(fleet)
    time.sleep(1)
    for backend in ("by_load", "by_session"):
        fleet.admin(f"set server {backend}/b state drain")
    while int(fleet.stat("by_load", "b", "scur")) + int(fleet.stat("by_session", "b", "scur")) > 0:
        time.sleep(0.05)
    taken = fleet.stat("by_load", "b", "stot")
    fleet.processes["b"].send_signal(signal.SIGTERM)
    assert fleet.processes["b"].wait(20) == 0
    time.sleep(2)
    assert fleet.stat("by_load", "b", "stot") == taken
    load.end()
    fleet.start("b")
    for backend in ("by_load", "by_session"):
        fleet.admin(f"set server {backend}/b state ready")
    fleet.wait_up("a", "b")
    fleet.ask()


def main():
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    with tempfile.TemporaryDirectory() as folder:
        fleet = Fleet(pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(folder))
        try:
            for test in (test_sessions_stay, test_a_killed_server_is_not_noticed, test_a_drained_server_can_be_replaced):
                test(fleet)
                print(f"ok  {test.__name__}", flush=True)
        finally:
            fleet.close()


if __name__ == "__main__":
    main()
