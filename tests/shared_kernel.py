"""One kernel for all tests that execute notebooks and do not look at the kernel itself."""

import asyncio

import pytest
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient

ARGUMENTS = ["--HistoryManager.hist_file=:memory:", "--log-level=CRITICAL"]
AS_NEW = "get_ipython().reset(); __import__('os').chdir({folder!r})"


class SharedKernel(NotebookClient):
    """A NotebookClient that makes the running kernel as new instead of starting one."""

    manager: AsyncKernelManager

    def __init__(self, notebook, **options):
        super().__init__(notebook, km=self.manager, **options)

    async def async_start_new_kernel_client(self):
        client = await super().async_start_new_kernel_client()
        folder = self.resources["metadata"]["path"]
        await client.execute(AS_NEW.format(folder=folder), silent=True, reply=True, timeout=20)
        return client

    async def async_execute(self, **options):
        try:
            return await super().async_execute(**options)
        finally:
            self.kc.stop_channels()


@pytest.fixture(scope="session")
def shared_kernel():
    """The class; its notebooks must not end the kernel, nor leave a cell running."""
    SharedKernel.manager = AsyncKernelManager()
    asyncio.run(SharedKernel.manager.start_kernel(extra_arguments=ARGUMENTS))
    yield SharedKernel
    asyncio.run(SharedKernel.manager.shutdown_kernel(now=True))


@pytest.fixture
def in_shared_kernel(shared_kernel, monkeypatch):
    """The chapters of this test are executed in the shared kernel."""
    monkeypatch.setattr("bookbinder.execution.NotebookClient", shared_kernel)
