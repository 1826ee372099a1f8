"""Rules about the house itself."""

import ast
import functools
import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from agents.core import prompts

ROOT = Path(__file__).resolve().parent.parent
SOURCES = sorted([*(ROOT / "agents").rglob("*.py"), ROOT / "app.py"])
MAX_LINES = 400
NEVER_OVER = 480
"""Slicing one idea to get under the limit is worse than a page more, so that a tenth of all files may have it."""

HEAVY = {
    "litellm": ("agents/llm/litellm_model.py", "agents/llm/litellm_errors.py"),
    "openai": ("agents/llm/litellm_model.py", "agents/llm/litellm_errors.py"),
    "tavily": ("agents/search/tavily.py",),
    "qdrant_client": ("agents/memory/",),
    "sqlalchemy": ("agents/chat/", "agents/jobs/", "agents/memory/sql_knowledge.py"),
    "onnxruntime": ("agents/nlp/meaning.py",),
    "dbos": ("agents/jobs/",),
    "chainlit": ("app.py", "agents/chat/", "agents/api/"),
    "httpx": ("agents/search/tavily.py", "agents/llm/litellm_errors.py"),
    "httpx2": ("agents/web/", "agents/search/", "agents/llm/chat_completions.py", "agents/llm/model_names.py"),
    "pypdfium2": ("agents/web/",),
    "docx": ("agents/web/", "agents/report/docx_export.py"),
    "opentelemetry": ("agents/jobs/tracing.py",),
    "typst": ("agents/report/pdf_export.py",),
    "protego": ("agents/web/",),
    "trafilatura": ("agents/web/",),
    "lxml": ("agents/web/", "agents/report/parse_body.py"),
}


@functools.cache
def imports(path: Path) -> set[str]:
    """Top-level names that a file imports, anywhere in it."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            found.add(node.module.split(".")[0])
    return found


def test_nine_files_in_ten_have_at_most_four_hundred_lines_and_none_many_more():
    long = {str(p.relative_to(ROOT)): n for p in SOURCES if (n := len(p.read_text("utf-8").splitlines())) > MAX_LINES}
    assert len(long) <= len(SOURCES) / 10
    assert not {path: n for path, n in long.items() if n > NEVER_OVER}


def test_no_file_is_named_for_nothing():
    vague = {"utils.py", "helpers.py", "common.py", "misc.py"}
    assert not [str(p) for p in SOURCES if p.name in vague]


@pytest.mark.parametrize("library", HEAVY)
def test_a_heavy_library_has_one_home(library):
    strays = [
        str(path.relative_to(ROOT))
        for path in SOURCES
        if library in imports(path) and not str(path.relative_to(ROOT)).startswith(HEAVY[library])
    ]
    assert not strays


def test_the_entry_imports_only_the_faces_and_the_team():
    allowed = {"chainlit", "agents", "__future__"}
    assert imports(ROOT / "app.py") <= allowed


def test_the_core_is_importable_without_any_heavy_library():
    code = (
        "import sys; import agents.research.pipeline, agents.roles, agents.jobs.ctx, agents.report.document;"
        f"print([m for m in {sorted(HEAVY)!r} if m in sys.modules])"
    )
    out = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"


def test_research_code_reads_no_clock_and_races_nothing():
    banned = re.compile(
        r"\b(time\.time|time\.monotonic|datetime\.now|random\.|uuid\.|os\.environ|as_completed|FIRST_COMPLETED)\b|\.seconds\(\)"
    )
    allowed = {"run_context.py", "turn.py"}  # bodies of steps
    found = {
        path.name: banned.findall(path.read_text("utf-8"))
        for path in (ROOT / "agents" / "research").rglob("*.py")
        if path.name not in allowed and banned.search(path.read_text("utf-8"))
    }
    assert not found


def test_only_the_settings_read_the_environment():
    readers = [str(p.relative_to(ROOT)) for p in SOURCES if re.search(r"os\.(environ|getenv)", p.read_text("utf-8"))]
    allowed = {
        "agents/__init__.py",  # keeps pydantic from looking for plug-ins
        "agents/core/settings.py",
        "agents/core/transport.py",
        "agents/cli/doctor.py",
        "agents/llm/litellm_model.py",
        "agents/api/serve.py",
        "agents/nlp/meaning.py",  # switches the telemetry of a library off
        "app.py",
    }
    assert set(readers) <= allowed


def test_no_word_of_the_sample_library_is_in_code_or_prompts():
    truth = json.loads((ROOT / "tests" / "data" / "sample_truth.json").read_text("utf-8"))
    words = re.compile(r"\b(" + "|".join(re.escape(word) for word in truth["theme_words"]) + r")\b", re.IGNORECASE)
    files = [*SOURCES, *(ROOT / "prompts").glob("*")]
    found = {str(p.relative_to(ROOT)): sorted(set(words.findall(p.read_text("utf-8")))) for p in files if p.is_file()}
    assert not {path: hits for path, hits in found.items() if hits}


def test_every_prompt_that_moved_has_a_higher_version():
    lock = tomllib.loads((ROOT / "prompts" / "lock.toml").read_text("utf-8"))
    now = {name: {"version": p.version, "sha": p.sha} for name, p in prompts.load().items()}
    assert lock == now, "run `make prompts` after raising the version"


def test_no_file_names_a_registry_or_a_place_on_somebodys_machine():
    telling = re.compile(r"pypi\.org|pythonhosted|registry\.npmjs|deb\.debian|/root/|/work/|/home/\w+/")
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False).stdout.split(
        "\n"
    )
    found = []
    for name in tracked:
        path = ROOT / name
        if not name or not path.is_file() or name == "tests/test_architecture.py" or path.stat().st_size > 2_000_000:
            continue
        try:
            text = path.read_text("utf-8")
        except UnicodeDecodeError:
            continue
        if telling.search(text):
            found.append(name)
    assert not found


def test_no_benchmark_hides_a_module_of_the_standard_library():
    # They are started as scripts too: their own folder then comes first where modules are looked for.
    names = {path.stem for path in (ROOT / "tests" / "bench").glob("*.py")}
    assert not names & sys.stdlib_module_names
