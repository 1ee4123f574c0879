"""One PR-Agent run in a process that was started ahead of its job.

Imports everything, prints `ready`, waits for one line `{"argv": [...], "env": {...}, "cwd": "..."}` on standard input, runs once
and exits with PR-Agent's code. It serves a single job: a second one would see the first one's settings.
"""

import json
import os
import sys

import openai.resources.beta  # noqa: F401
import openai.resources.chat.completions  # noqa: F401
import pr_agent.algo.ai_handlers.litellm_ai_handler  # noqa: F401
import pr_agent.git_providers.github_provider  # noqa: F401
import tiktoken
from pr_agent.cli import run

EXIT_UNUSED = 3


def serve_one_job() -> int:
    tiktoken.get_encoding("o200k_base")
    print("ready", flush=True)
    line = sys.stdin.readline()
    if not line:
        return EXIT_UNUSED
    job = json.loads(line)
    os.environ.update(job["env"])
    os.chdir(job["cwd"])
    try:
        return run(job["argv"]) or 0
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else int(stop.code is not None)


code = serve_one_job()
sys.stdout.flush()
sys.stderr.flush()
# PR-Agent leaves threads behind that would delay or hang an ordinary exit
os._exit(code)
