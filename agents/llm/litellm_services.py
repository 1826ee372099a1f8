"""What litellm reaches beside answers: web search and embeddings; failures are sorted as those of models are."""

import asyncio

from agents.llm.chat_completions import Wire
from agents.llm.litellm_errors import Failed, exceptions_of, failed, key_variable
from agents.llm.litellm_model import warm_up


async def ask_web(
    provider: str,
    text: str,
    *,
    max_results: int,
    timeout_s: float,
    domains: tuple[str, ...] = (),
    api_key: str = "",
    api_base: str = "",
    key_variable: str = "",
) -> list[Wire]:
    """Send one search.

    Args:
        provider: as litellm calls it.
        text: the query.
        max_results: hits, at most.
        timeout_s: seconds for the request.
        domains: look there only.
        api_key: litellm sends no key of the environment to an address that it does not know, so it is given here.
        api_base: address of the service, where it is not the usual one.
        key_variable: where the key is set, for messages.

    Returns:
        Results as objects with `title`, `url`, `snippet`, `date` and what else the provider gave.

    Raises:
        Failed: the provider refused or did not answer; its error carries no key.
    """
    litellm = await asyncio.to_thread(warm_up)
    try:
        response = await litellm.asearch(
            query=text,
            search_provider=provider,
            max_results=max_results,
            timeout=timeout_s,
            **({"search_domain_filter": list(domains)} if domains else {}),
            **({"api_key": api_key} if api_key else {}),
            **({"api_base": api_base} if api_base else {}),
        )
    except exceptions_of(litellm) as error:
        failure: Failed = failed(error, model=provider, key_variable=key_variable, secrets=(api_key,))
    else:
        return [result.model_dump() for result in response.results]
    raise failure  # out here, so that no traceback leads to the provider's own text with a key in it


async def embed_texts(model: str, texts: list[str], *, timeout_s: float) -> list[list[float]]:
    """Ask an embedding model for the directions of texts, in their order.

    Raises:
        ModelError: the provider refused or did not answer; its words carry no key.
    """
    litellm = await asyncio.to_thread(warm_up)
    try:
        response = await litellm.aembedding(model=model, input=texts, timeout=timeout_s)
    except exceptions_of(litellm) as error:
        failure: Failed = failed(error, model=model, key_variable=key_variable(model))
    else:
        return [row["embedding"] for row in response.data]
    raise failure.error
