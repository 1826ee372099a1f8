"""The one retry policy of transport: pages and search services alike (specification, section 11).

The way out of the machine: proxies and certificates, as the environment names them for every program.

HTTP_PROXY, HTTPS_PROXY, ALL_PROXY and NO_PROXY count for models, search and pages alike; SSL_CERT_FILE, or the system's own
store, says whose certificates are believed.
"""

import asyncio
import importlib.util
import ipaddress
import math
import os
import random
import re
import ssl
import urllib.request
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from fnmatch import fnmatchcase
from pathlib import Path
from urllib.parse import urlsplit

from tenacity import AsyncRetrying, RetryCallState, retry_if_exception

from agents.core.errors import ConfigError, DossierError

ATTEMPTS = 3
MAX_BACKOFF_S = 10.0


@dataclass(frozen=True)
class RetryPolicy:
    """Three attempts, min(2^attempt + U(0, 1), 10) seconds apart or as the other side asks, within the time left."""

    call_s: float = 15.0  # seconds for one request, where the caller does not say otherwise
    longest_wait_s: float = 30.0  # whoever asks for a longer pause is not asked again
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    spread: Callable[[], float] = random.random  # added to waits so that not all come back at once

    def retrying(self, left_s: Callable[[], float], attempts: int | None = None) -> AsyncRetrying:
        """Make the loop that calls again after errors that are `retryable`, while there is time left for it."""
        most = attempts or ATTEMPTS

        def is_over(state: RetryCallState) -> bool:
            wait = state.upcoming_sleep
            return state.attempt_number >= most or wait > self.longest_wait_s or wait >= left_s()

        again = retry_if_exception(lambda error: isinstance(error, DossierError) and error.retryable)
        return AsyncRetrying(sleep=self.sleep, wait=self._wait_s, stop=is_over, retry=again, reraise=True)

    def _wait_s(self, state: RetryCallState) -> float:
        error = state.outcome.exception() if state.outcome else None
        if isinstance(error, DossierError) and error.retry_after_s is not None:
            return error.retry_after_s + self.spread() / 2
        return float(min(2.0**state.attempt_number + self.spread(), MAX_BACKOFF_S))


def retry_after_s(value: str, now: datetime) -> float | None:
    """Read a `Retry-After`, which is seconds or a date of HTTP; None when it is neither. The past gives zero."""
    try:
        seconds = float(value)
    except ValueError:
        when = http_date(value)
        return None if when is None else max(0.0, (when - now).total_seconds())
    return min(seconds, 999_999_999.0) if 0 <= seconds < math.inf else None


def http_date(text: str) -> datetime | None:
    """Read a date of HTTP; None when it is none."""
    try:
        date = parsedate_to_datetime(text)
    except (ValueError, TypeError, OverflowError):
        return None
    return date if date.tzinfo else date.replace(tzinfo=UTC)


LOOPBACK = ("localhost", "127.0.0.1", "::1")  # hosts that only this machine can reach
SCHEMES = ("http", "https", "socks5", "socks5h")
_SOCKS = ("socks5", "socks5h")
_BUNDLES = ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")
"""Where other programs are told of a company's certificates."""

UNKNOWN_SIGNER = (
    "its certificate is signed by nobody that this machine knows. Where a company's network signs them anew, set "
    "SSL_CERT_FILE to the company's certificates"
)
PROXY_WANTS_A_NAME = (
    "the proxy on the way wants a name and a password: write them into HTTPS_PROXY as http://name:password@host:port"
)


_UNKNOWN = re.compile(r"CERTIFICATE_VERIFY_FAILED.*(?:issuer|self.signed)", re.DOTALL)
_REFUSED = re.compile(r"\b407\b|proxy auth\w+ required", re.IGNORECASE)


def advice(said: str) -> str:
    """Say what to do about an error of the network that is the machine's own; empty for all others."""
    return UNKNOWN_SIGNER if _UNKNOWN.search(said) else PROXY_WANTS_A_NAME if _REFUSED.search(said) else ""


def prepare() -> None:
    """Read what the environment says of proxies and certificates, before anything is sent.

    This machine itself is never reached through a proxy: model servers of one's own are. The `ConfigError` about a proxy
    that can't be used holds no password.
    """
    for name, written in list(os.environ.items()):
        if name.lower().endswith("_proxy") and written.startswith("socks://"):  # as desktops set it
            os.environ[name] = written.replace("socks", "socks5", 1)
    for variable, proxy in proxies().items():
        scheme = proxy.partition("://")[0]
        if scheme not in SCHEMES or not _has_place(proxy):
            raise ConfigError(
                f"{variable}: {shown(proxy)!r} is no proxy; write it as http://host:port or socks5://host:port."
            )
        if scheme in _SOCKS and importlib.util.find_spec("socksio") is None:
            raise ConfigError(
                f"{variable} names a SOCKS proxy, which needs one more package: pip install 'dossier[socks]'."
            )
    if proxies():
        kept = _beside()  # others know "*" only where it stands alone
        os.environ["NO_PROXY"] = os.environ["no_proxy"] = (
            "*" if "*" in kept else ",".join(dict.fromkeys((*kept, *LOOPBACK)))
        )
    own = os.environ.get("SSL_CERT_FILE")
    if own and not Path(own).is_file():
        raise ConfigError(f"SSL_CERT_FILE: there is no file {own}.")
    bundle = next((value for name in _BUNDLES if Path(value := os.environ.get(name, "")).is_file()), "")
    if bundle and not own:
        own = os.environ["SSL_CERT_FILE"] = bundle
    try:
        if own:
            ssl.create_default_context(cafile=own)
    except OSError as error:  # an SSLError is one
        raise ConfigError(f"SSL_CERT_FILE: {own} holds no certificates in PEM form.") from error


def proxies() -> dict[str, str]:
    """Give the proxies that are set, by the name of their variable; addresses without a scheme are HTTP."""
    found = urllib.request.getproxies()
    return {
        f"{scheme.upper()}_PROXY": proxy if "://" in proxy else f"http://{proxy}"
        for scheme, written in found.items()
        if scheme in ("http", "https", "all") and (proxy := written.strip(" \"'"))
    }


def _has_place(proxy: str) -> bool:
    with suppress(ValueError):  # a port that is no number
        return bool(urlsplit(proxy).hostname) and urlsplit(proxy).port != 0
    return False


def proxy_for(scheme: str, host: str) -> str:
    """Give the proxy through which a host is reached; empty where it is reached directly."""
    known = proxies()
    proxy = known.get(f"{scheme.upper()}_PROXY") or known.get("ALL_PROXY", "")
    return "" if not proxy or host.strip("[]") in LOOPBACK or any(_covers(one, host) for one in _beside()) else proxy


def _beside() -> list[str]:
    """List what is reached without a proxy, in whatever way the list is written."""
    listed = os.environ.get("no_proxy") or os.environ.get("NO_PROXY", "")
    return [part for part in re.split(r"[\s,;\"']+", listed) if part]


def _covers(entry: str, host: str) -> bool:
    """Tell whether an entry of NO_PROXY means a host: a name and those below it, a pattern, an address, a network."""
    host, entry = _lettered(host.strip("[].")), _lettered(entry)
    with suppress(ValueError):
        return ipaddress.ip_address(host) in ipaddress.ip_network(entry.strip("[]"), strict=False)
    if entry == "<local>":
        return "." not in host
    name = re.sub(r":\d+$", "", entry).removeprefix("*").strip(".")
    return entry == "*" or host == name or host.endswith(f".{name}") or fnmatchcase(host, entry)


def _lettered(name: str) -> str:
    """Write a name with the letters that the network's form of it (`xn--…`) stands for."""
    with suppress(UnicodeError):  # no such form after all
        return re.sub(r"\bxn--([a-z\d-]+)", lambda found: found[1].encode().decode("punycode"), name.lower())
    return name.lower()


def shown(proxy: str) -> str:
    """Write a proxy's address without a name and a password in it."""
    return re.sub(r"://.*@", "://", proxy)  # a password may hold signs that end an address elsewhere


def lines() -> list[str]:
    """Say which way out is taken."""
    said = [f"  {variable}: {shown(proxy)}" for variable, proxy in proxies().items()]
    beside = [part for part in _beside() if part not in LOOPBACK]
    said += [f"  not for: {', '.join(beside)}"] if said and any(beside) else []
    own = os.environ.get("SSL_CERT_FILE")
    return [*(said or ["  no proxy is set"]), f"  certificates: {own or 'as the system has them'}"]
