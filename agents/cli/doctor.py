"""What `doctor` says: which engine, searchers, documents and folders are usable, and what is missing.

By itself it sends nothing anywhere; with `--try` every model is asked twice, for words and for JSON, and every search
provider once, for real.
"""

import asyncio
import tempfile
import time

from pydantic import SecretStr, ValidationError

from agents.contracts.frozen import Frozen, Text
from agents.core import transport
from agents.core.errors import ModelError
from agents.core.model_answers import NoAnswer, read_answer
from agents.core.role import Message, Model, Request
from agents.core.settings import KEY_NAMES, OFFLINE, Settings, key_state, load, usable_key, variables
from agents.llm.choose_models import Order, bind, orders, parts_of
from agents.llm.litellm_model import LiteLLMModel
from agents.llm.model_names import find_servers
from agents.llm.pacing import OpenGate
from agents.research.planning.freeze_contract import cost_unheld
from agents.search.chain import Chain
from agents.team import ROLES, Team, open_team

TRIAL_S = 20.0  # seconds in which a model or a search provider must answer when it is tried


class _Words(Frozen):
    """An answer in words, of which the user sees each as it is written."""

    reply: Text


class _Answer(Frozen):
    """An answer for code: a list whose items have a form."""

    words: tuple[_Words, ...]


async def report(*, really: bool = False) -> tuple[list[str], bool]:
    """Look around, asking every model and search provider if `really`; gives lines to print, and whether research can be done."""
    settings = load()
    team = open_team(settings)
    bound = orders(dict.fromkeys(role.name for role in ROLES), settings)
    missing: Missing = []
    try:
        lines = _engine(team, bound, missing)
        if really:
            lines += [*await _try_models(team, bound, missing), *await _try_search(team, missing)]
        lines += ["Network", *transport.lines()]
        servers = await asyncio.to_thread(find_servers, besides=settings.port)
        none = ["  none answers at the ports of Ollama, LM Studio, llama.cpp and vLLM"]
        lines += ["Model servers on this machine", *([f"  {one.line}" for one in servers] or none)]
        lines += ["Keys", *(f"  {name:20} {key_state(name)} (stands for {model})" for name, model in KEY_NAMES)]
        lines += await _documents(team, missing)
    finally:
        await team.close()
    folder = settings.data_dir
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            writable = "writable"
    except OSError:
        writable = "NOT writable"
        missing.append((f"The data folder {folder} can't be written to: set DOSSIER_DATA_DIR to another.", True))
    lines += ["Data folder", f"  {folder}: {writable}"]
    lines += ["Missing", *(f"  {line}" for line in dict.fromkeys(line for line, _ in missing) or ["nothing"])]
    lines += ["Settings", *(f"  {name} = {_shown(settings, field)}" for name, field in sorted(variables().items()))]
    return lines, not any(stops for _, stops in missing)


Missing = list[tuple[str, bool]]  # what is missing, in plain words, and whether nothing can be done without it


def _engine(team: Team, bound: dict[str, Order], missing: Missing) -> list[str]:
    """Say which model each role is bound to, and which stand in, in order."""
    lines = ["Engine"]
    for role, order in bound.items():
        names = [team.models[role].name, *(one.name for one in order.others)]
        if order.first.name != OFFLINE:
            names.append("offline engine")
        lines.append(f"  {role:12} {', then '.join(names)}")
        lines += [f"  {'':12} not {name}: {why}" for name, why in order.left_out]
        if order.first.name != OFFLINE and not order.first.usable:
            said = f"There is no key for {order.first.name}: put one into {order.first.key_variable} in `.env`."
            missing.append((said, not order.others))
    if unheld := cost_unheld(team.means, team.engine.names, team.settings.max_cost_usd):
        missing.append((unheld, False))
    if not team.engine.reasons:
        told = "No language model is set up. The offline engine quotes sources and cites them. It does not reason."
        lines.append(f"  {told}")
    return lines


async def _try_models(team: Team, bound: dict[str, Order], missing: Missing) -> list[str]:
    models, _ = bind(bound, team.settings, team.prompts, team.pacing, retries=1)
    single = {part.name: part for model in models.values() for part in parts_of(model) if part.reasons}
    said = await asyncio.gather(*(_try_model(model) for model in single.values()))
    mute = {name: words for name, (answers, words) in zip(single, said, strict=True) if not answers}
    for name, words in mute.items():
        missing.append((f"{name} does not answer. {words}", False))
    for role, order in bound.items():
        if order.first.name != OFFLINE and {order.first.name, *(one.name for one in order.others)} <= set(mute):
            missing.append((f"No model answers for the {role}; see above.", True))
    rows = [f"  {name}: {words}" for name, (_, words) in zip(single, said, strict=True)]
    return ["Models, tried", *(rows or ["  none is set up"])]


async def _try_model(model: Model) -> tuple[bool, str]:
    """Ask for words as they are written, then for a form; say what works, and how the model has to be asked."""
    if isinstance(model, LiteLLMModel):
        model.gate = OpenGate()  # a first answer, for which a model may have to be loaded, says nothing of its pace
    began = time.monotonic()
    try:
        await _probe(model, "Say hello: answer as JSON with one field, `reply`.", _Words)
        took = time.monotonic() - began
        unusable = await _probe(model, "Name two colours: JSON with `words`, a list of objects with `reply`.", _Answer)
    except ModelError as error:
        return False, error.notice
    how = f" ({model.ways.told})" if isinstance(model, LiteLLMModel) else ""
    works = f"JSON can't be used: {unusable}" if unusable else "text and JSON work"
    return True, f"answers, in {took:.1f} s; {works}{how}"


async def _probe(model: Model, task: str, gives: type[Frozen]) -> str:
    """Ask once; say why the answer can't be used, or nothing."""

    async def drop(text: str) -> None:
        """Nobody reads along."""

    messages = (Message("system", "You are asked whether you can be reached."), Message("user", task))
    reply = await model.reply(Request("manager", messages, _Words(reply=task), gives, TRIAL_S, 200), drop)
    try:
        read_answer(reply.text, gives)
    except (NoAnswer, ValidationError) as error:
        return str(error).splitlines()[0]
    return ""


async def _try_search(team: Team, missing: Missing) -> list[str]:
    if not isinstance(team.searcher, Chain) or not team.searcher.destinations:
        return ["Search, tried", "  only documents are searched, on this machine"]
    lines, tried = ["Search, tried"], await team.searcher.trial(TRIAL_S / 2)
    for one in tried:
        lines.append(f"  {one.provider}: {'answers' if one.reachable else one.reason} ({one.host})")
    if not any(one.reachable for one in tried):
        said = "No web search answers: check the network and the keys of RETRIEVER. Documents are searched alone."
        missing.append((said, False))
    return lines


async def _documents(team: Team, missing: Missing) -> list[str]:
    survey = await team.searcher.survey()
    lines = ["Documents", f"  {team.searcher.name}: {survey.total} documents"]
    if team.sample and isinstance(team.searcher, Chain) and team.searcher.destinations:
        lines.append("  The sample library, which is invented, stands in only where no web search answers.")
    lines += [f"  skipped {one.url}: {one.reason}" for one in getattr(team.searcher, "skipped", ())]
    if survey.total == 0 and not getattr(team.searcher, "destinations", ()):
        said = "Nothing can be searched: put PDF, Word, HTML, Markdown or text files into a folder of DOSSIER_LIBRARY."
        missing.append((said, True))
    return lines


def _shown(settings: Settings, field: str) -> str:
    value = getattr(settings, field)
    if isinstance(value, SecretStr):
        return "set" if usable_key(value.get_secret_value()) else "not set"
    if field == "model" and not value:
        return f"(by the keys present: {settings.default_model() or OFFLINE})"
    if isinstance(value, tuple):
        return ", ".join(str(part) for part in value) or "(default)"
    return "(default)" if value is None or value == {} else str(value)
