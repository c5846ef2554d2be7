"""A JupyterHub of this machine, as TEACHING.md starts it, with a class of four."""

import json
import os
import re
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
import uuid
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest
from conftest import ROOT
from websocket import create_connection

from bookbinder.classroom.progress import standing

CONFIG = ROOT / "bookbinder/classroom/jupyterhub_config.py"
PROXY = Path(sys.prefix, "proxy/node_modules/configurable-http-proxy")
CLASS = ["ann", "ben", "cleo", "dan"]
DIRECTLY = urllib.request.build_opener(urllib.request.ProxyHandler({}))
FIRST_CELL = """
import sys, os
import d2l_attention, torch
from d2l_attention.practice import check
print(os.path.realpath(sys.prefix), torch.get_num_threads(), os.environ["HOME"])
check("6.1", {answer})
"""

# The teacher's file as it is, but with users, homes and ports that every machine has.
THIS_CLASS = """
load_subconfig({config!r})
c = get_config()
c.JupyterHub.authenticator_class = "dummy"
c.JupyterHub.spawner_class = "simple"
c.SimpleLocalProcessSpawner.home_dir_template = {homes!r} + "/{{username}}"
c.Spawner.args += ["--ServerApp.allow_root=True"]
c.LocalProcessSpawner.interrupt_timeout = c.LocalProcessSpawner.term_timeout = 3
c.JupyterHub.db_url, c.JupyterHub.cookie_secret_file = "sqlite://", "cookie_secret"
c.ConfigurableHTTPProxy.pid_file = "proxy.pid"
c.JupyterHub.bind_url = "http://127.0.0.1:{ports[0]}"
c.JupyterHub.hub_port = {ports[1]}
c.ConfigurableHTTPProxy.api_url = "http://127.0.0.1:{ports[2]}"
c.JupyterHub.services = [{{"name": "teacher", "api_token": {token!r}}}]
scopes = ["admin:users", "admin:servers", "access:servers", "tokens"]
c.JupyterHub.load_roles = [{{"name": "teaching", "services": ["teacher"], "scopes": scopes}}]
"""


def free_ports(count: int) -> list[int]:
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [opened.getsockname()[1] for opened in sockets]
    for opened in sockets:
        opened.close()
    return ports


@dataclass
class Hub:
    """A hub that runs, seen by a teacher who may look into every server."""

    port: int
    token: str
    homes: Path

    def ask(self, path: str, method: str = "GET", body: object = None) -> dict | list:
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", method=method)
        request.add_header("Authorization", f"token {self.token}")
        data = None if body is None else json.dumps(body).encode()
        with DIRECTLY.open(request, data, timeout=30) as answer:
            return json.loads(answer.read() or "null")

    def serves(self, user: str) -> bool:
        """Start a user's server as logging in does; return whether it is ready within a minute."""
        about = f"/hub/api/users/{user}"
        self.ask(f"{about}/server", "POST")
        return comes_true(lambda: self.ask(about)["servers"][""]["ready"], 60)

    def run(self, user: str, code: str) -> str:
        """Start a kernel as JupyterLab does, and return what some code prints in it."""
        kernel = self.ask(f"/user/{user}/api/kernels", "POST", {"name": "python3"})["id"]
        address = f"ws://127.0.0.1:{self.port}/user/{user}/api/kernels/{kernel}/channels"
        header = {"msg_id": uuid.uuid4().hex, "msg_type": "execute_request", "version": "5.3"}
        message = {"header": header, "channel": "shell", "parent_header": {}, "metadata": {}}
        message["content"] = {"code": code, "silent": False}
        channels = create_connection(address, 60, header=[f"Authorization: token {self.token}"])
        try:
            channels.send(json.dumps(message))
            printed = ""
            while (reply := json.loads(channels.recv()))["msg_type"] != "execute_reply":
                content = reply["content"]
                printed += content.get("text") or "\n".join(content.get("traceback", ()))
                printed += content.get("data", {}).get("text/plain", "")
            return printed
        finally:
            channels.close()
            self.ask(f"/user/{user}/api/kernels/{kernel}", "DELETE")


def comes_true(condition, seconds: float) -> bool:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        try:
            if condition():
                return True
        except (urllib.error.URLError, ConnectionError):
            pass
        time.sleep(0.2)
    return False


@pytest.fixture(scope="module")
def hub(worksheets, tmp_path_factory):
    if not PROXY.exists():
        pytest.skip("JupyterHub's proxy could not be installed here")
    folder = tmp_path_factory.mktemp("a hub")
    (folder / "progress").mkdir()
    ports, token = free_ports(3), uuid.uuid4().hex
    about = {"config": str(CONFIG), "homes": str(folder / "homes"), "ports": ports, "token": token}
    (folder / "config.py").write_text(THIS_CLASS.format(**about))
    hub = Hub(ports[0], token, folder / "homes")
    command = [sys.executable, "-m", "jupyterhub", "--config", "config.py"]
    theirs = {name: value for name, value in os.environ.items() if "proxy" not in name.lower()}
    theirs["D2L_PROGRESS"] = str(folder / "progress")
    with (
        open(folder / "log", "w") as log,
        subprocess.Popen(command, cwd=folder, env=theirs, stdout=log, stderr=log) as process,
    ):
        try:
            assert comes_true(lambda: hub.ask("/hub/api/users") == [], 30), said(folder)
            hub.ask("/hub/api/users", "POST", {"usernames": CLASS})
            with ThreadPoolExecutor() as at_once:
                assert all(at_once.map(hub.serves, CLASS)), said(folder)
            yield hub
        finally:
            process.terminate()  # ends the students' servers and the proxy, too
            process.wait(timeout=30)


def said(folder: Path) -> str:
    return (folder / "log").read_text()


def test_each_student_finds_the_worksheets_and_no_solution(hub, worksheets):
    names = {path.name for path in worksheets.glob("*.ipynb")}
    for user in CLASS:
        listed = hub.ask(f"/user/{user}/api/contents/attention")["content"]
        assert {entry["name"] for entry in listed if entry["type"] == "notebook"} == names
        sheet = f"/user/{user}/api/contents/attention/06_scaled_dot_product_attention.ipynb"
        cells = hub.ask(sheet)["content"]["cells"]
        text = "\n".join(cell["source"] for cell in cells)
        assert re.search(r"^### Exercise 6\.1\b", text, re.MULTILINE)
        assert "*Your answer:*" in text
        assert "<summary>Solution" not in text


def test_every_kernel_runs_in_the_books_environment_and_the_class_sees_its_progress(hub):
    answers = dict.fromkeys(CLASS, "None") | {"ben": "0", "cleo": "1"}
    for user in CLASS:
        printed = hub.run(user, FIRST_CELL.format(answer=answers[user]))
        expected = f"{os.path.realpath(sys.prefix)} 1 {hub.homes / user}"
        assert printed.splitlines()[0] == expected, printed
    files = (hub.homes.parent / "progress").iterdir()
    (line,) = standing(path.read_text() for path in files)
    assert line.startswith("6.1  0 of 2 right")


def test_a_student_has_no_say_in_the_server_of_another(hub):
    token = hub.ask("/hub/api/users/ann/tokens", "POST", {})["token"]
    ann = Hub(hub.port, token, hub.homes)
    assert ann.ask("/user/ann/api/contents/attention")["type"] == "directory"
    with pytest.raises(urllib.error.HTTPError, match="403"):
        ann.ask("/user/ben/api/contents/attention")
