"""Real processes that have their modules already: forked from one that imported them once, and can be killed at any moment.

A fresh interpreter takes three to five seconds of processor time for its imports alone, which hold nothing of a test.
"""

import asyncio
import multiprocessing
import os
import runpy
import signal
import subprocess
import sys

_CONTEXT = multiprocessing.get_context("forkserver")
_CONTEXT.set_forkserver_preload(["tests.preloaded"])


def forked(log, main, *arguments):
    """Start a process that runs the coroutine `main` of an importable module, and writes what it says to `log`."""
    process = _CONTEXT.Process(target=_run, args=(str(log), dict(os.environ), main, arguments), daemon=True)
    process.start()
    return process


def _run(log, environment, main, arguments):
    _furnish(log, log, environment)
    asyncio.run(main(*arguments))


def _furnish(out, err, environment):
    for descriptor, path in ((1, out), (2, err)):
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644), descriptor)
    os.environ.clear()
    os.environ.update(environment)


class Module:
    """A process like `python -m module arguments`, as `subprocess.Popen` would give it."""

    def __init__(self, module, *arguments, out, err=None, env=None, cwd=None):
        env = dict(os.environ) if env is None else env
        arguments = (module, arguments, str(out), str(err or out), env, str(cwd or "."))
        self._process = _CONTEXT.Process(target=_run_module, args=arguments, daemon=True)
        self._process.start()
        self.pid = self._process.pid

    def poll(self):
        return self._process.exitcode

    def send_signal(self, sign):
        os.kill(self.pid, sign)

    def kill(self):
        self.send_signal(signal.SIGKILL)

    def wait(self, timeout=None):
        self._process.join(timeout)
        if self._process.exitcode is None:
            raise subprocess.TimeoutExpired(str(self.pid), timeout)
        return self._process.exitcode


def _run_module(module, arguments, out, err, environment, folder):
    _furnish(out, err, environment)
    os.chdir(folder)
    sys.argv = [module, *arguments]
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    runpy.run_module(module, run_name="__main__", alter_sys=True)


def command(folder, *arguments, env=None):
    """Run `python -m agents …` and give what it said, as `subprocess.run` would."""
    out, err = folder / "said.out", folder / "said.err"
    for path in (out, err):
        path.unlink(missing_ok=True)
    code = Module("agents", *arguments, out=out, err=err, env=env).wait(110)
    return subprocess.CompletedProcess(arguments, code, out.read_text("utf-8"), err.read_text("utf-8"))
