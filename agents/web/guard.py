"""Which addresses may be reached, checked where the socket is opened: by name, by number, and by what a name leads to.

A name is looked up once for each connection and that answer is dialled, so that nothing can change between the check
and the connection. Host name, certificate and `Host` header stay as the address says. Redirects pass through here too.
"""

import asyncio
import ipaddress
import re
import socket
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import NamedTuple

import httpcore2
import httpx2

from agents.contracts.frozen import Said
from agents.core.errors import ConfigError
from agents.core.transport import proxy_for

PORTS = frozenset({80, 443, 8080, 8443})  # where web pages are served; other ports belong to other services
LOOKUP_S = 5.0  # seconds in which a name must be resolved
MAX_DIALLED = 4  # addresses of one name that are tried, in the order of the resolver
_Net = ipaddress.IPv4Network | ipaddress.IPv6Network

INSIDE = "its address leads into a private network"
MALFORMED = "its address is malformed"
CREDENTIALS = "its address carries a user name or a password"

Resolver = Callable[[str, int], Awaitable[Sequence[str]]]
"""Host name and port to numeric addresses; raises `OSError` when there are none."""

# Python's own `is_global` takes several of these for public, and which ones differs between its releases. Source: the
# Special-Purpose Address Registries of IANA, with the ranges that embed an IPv4 address (6to4), all of IPv6
# that is no global unicast, and the one public address at which a cloud answers its own machines.
_CLOSED = tuple(
    ipaddress.ip_network(net)
    for net in (
        "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24",
        "168.63.129.16/32", "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24",
        "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4", "::/3", "2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20",
        "4000::/2", "8000::/1",
    )
)  # fmt: skip
_NAT64 = ipaddress.ip_network("64:ff9b::/96")
_INSIDE_NAMES = (
    "localhost", "localdomain", "local", "internal", "intranet", "lan", "home", "corp", "private", "home.arpa",
    "in-addr.arpa", "ip6.arpa", "svc", "test", "invalid", "onion",
)  # fmt: skip
_NAME = re.compile(r"(?:[a-z0-9_](?:[a-z0-9_-]{0,62})\.)*[a-z0-9_][a-z0-9_-]{0,62}")
_NUMERIC_LABEL = re.compile(r"\d+|0x[0-9a-f]*")
_FOREIGN = re.compile("[\x00-\x20\x7f\\\\]")
_SCHEME = re.compile(r"([a-zA-Z][a-zA-Z0-9+.-]*):")
_AUTHORITY = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*://([^/?#]*)")
_ENTRY = re.compile(
    r"(?:(?P<pattern>[^=\s]+)=)?(?:\[(?P<six>[0-9A-Fa-f:.]+)\]|(?P<host>[^\s:=\[\]]+)):(?P<port>\d{1,5})"
)


class Blocked(Exception):
    """An address that may not be reached; trying again will not help. The reason is for the reader of a report."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


async def system_resolver(host: str, port: int) -> Sequence[str]:
    """Ask the operating system; an `OSError` where there is no such name, or no answer within `LOOKUP_S`."""
    loop = asyncio.get_running_loop()
    async with asyncio.timeout(LOOKUP_S):  # TimeoutError is an OSError
        try:
            found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except UnicodeError as error:  # a label that is empty or too long
            raise socket.gaierror(socket.EAI_NONAME, str(error)) from error
    return list(dict.fromkeys(str(info[4][0]) for info in found))


def is_public(address: str) -> bool:
    """Tell whether a numeric address belongs to the open Internet, and embeds no other address."""
    ip = ipaddress.ip_address(address.split("%")[0])
    if ip in _NAT64:  # networks without IPv4 reach every host so: what counts is the address within
        ip = ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF)
    return "%" not in address and ip.is_global and not _is_in(_CLOSED, ip)


class Target(NamedTuple):
    """Where a socket goes."""

    host: str
    port: int


@dataclass(frozen=True)
class AllowedHosts:
    """Hosts that the operator opened although they are private, and names that are dialled elsewhere."""

    exact: frozenset[Target] = frozenset()
    dialled: tuple[tuple[str, Target], ...] = ()
    """Patterns of host names (`*` stands for anything) and where they lead; the first that matches counts."""

    @classmethod
    def parse(cls, text: str) -> "AllowedHosts":
        """Read `DOSSIER_ALLOW_PRIVATE_HOSTS`: a comma list of `host:port`, or of `pattern=host:port`, else a `ConfigError`.

        Names that match a pattern are dialled there, while address and `Host` header stay as they are. Empty allows nothing.
        """
        read: list[tuple[str, Target]] = []
        for entry in filter(None, (part.strip() for part in text.split(","))):
            match = _ENTRY.fullmatch(entry)
            if not match or not 0 < int(match["port"]) < 65_536:
                raise ConfigError(
                    f"DOSSIER_ALLOW_PRIVATE_HOSTS: {entry!r} is neither `host:port` nor `pattern=host:port`."
                )
            target = Target(_plain(match["six"] or match["host"]), int(match["port"]))
            read.append((_plain(match["pattern"] or ""), target))
        return cls(frozenset(one for name, one in read if not name), tuple(one for one in read if one[0]))

    def target(self, host: str, port: int) -> Target | None:
        """Give where to dial for a host and port that the operator opened; None for all others."""
        here = Target(_plain(host), port)
        dialled = next((target for pattern, target in self.dialled if fnmatchcase(here.host, pattern)), None)
        return dialled or (here if here in self.exact else None)


class Guard:
    """The policy: what an address may look like, and where it may lead; `open_networks`, in CIDR form, count as public."""

    def __init__(
        self,
        allowed: AllowedHosts | None = None,
        resolver: Resolver = system_resolver,
        open_networks: Sequence[str] = (),
    ) -> None:
        self._allowed = allowed or AllowedHosts()
        self._resolver = resolver
        self._open = tuple(ipaddress.ip_network(net) for net in open_networks)

    def check(self, url: str | httpx2.URL) -> httpx2.URL:
        """Judge an address by its form, without looking its name up; `Blocked` where it may not be reached."""
        written = str(url)
        scheme = _SCHEME.match(written)
        if scheme and scheme[1].lower() not in {"http", "https"}:
            raise Blocked(Said("its address is not one of the web ({scheme}:)", scheme=scheme[1].lower()))
        if not scheme or _FOREIGN.search(written):
            raise Blocked(MALFORMED)
        authority = match[1] if (match := _AUTHORITY.match(written)) else ""
        if "@" in authority:
            raise Blocked(CREDENTIALS)
        try:
            parsed = httpx2.URL(written)
            host, port = parsed.raw_host.decode("ascii"), port_of(parsed)
        except (httpx2.InvalidURL, ValueError) as error:
            raise Blocked(MALFORMED) from error
        if not host:
            raise Blocked(MALFORMED)
        if self._allowed.target(host, port) is None:
            self._check_host(host)
            if port not in PORTS:
                raise Blocked(Said("its address names a port that is not one of web pages ({port})", port=port))
        return parsed

    async def admit(self, url: str | httpx2.URL) -> httpx2.URL:
        """Judge an address by its form and by what its name leads to now: `Blocked` where it may not be reached.

        Behind a proxy a name that this machine cannot look up passes by its form; elsewhere that is an `OSError`.
        """
        parsed = self.check(url)
        host = parsed.raw_host.decode("ascii")
        try:
            await self.targets(host, port_of(parsed))
        except OSError:
            if not self.proxy(parsed):
                raise  # else the proxy looks it up: only names that the form above lets pass come here
        return parsed

    def proxy(self, url: httpx2.URL) -> str:
        """Give the proxy through which a page is fetched; empty where it is reached directly, as all opened hosts are."""
        host = url.raw_host.decode("ascii")
        return "" if self._allowed.target(host, port_of(url)) else proxy_for(url.scheme, host)

    async def targets(self, host: str, port: int) -> list[Target]:
        """Look a host up, and give the addresses to dial for it, in the order of preference; at least one, else an `OSError`.

        One address that is not public condemns the name: `Blocked`.
        """
        opened = self._allowed.target(host, port)
        name, port = opened or (host, port)
        addresses = [name] if _is_numeric(name) else await self._resolver(name.rstrip("."), port)
        if not addresses:
            raise socket.gaierror(socket.EAI_NONAME, "no address")
        if opened is None and not all(self._is_open(address) for address in addresses):
            raise Blocked(INSIDE)
        # A machine with one version of IP alone reaches one of them, so the first of each version is among those tried.
        firsts = {":" in address: address for address in reversed(addresses)}
        ordered = dict.fromkeys((addresses[0], *firsts.values(), *addresses))
        return [Target(address, port) for address in [*ordered][:MAX_DIALLED]]

    def _check_host(self, host: str) -> None:
        name = _plain(host)
        if _is_numeric(name):
            inside = not self._is_open(name)
        elif not _NAME.fullmatch(name):
            raise Blocked(MALFORMED)
        else:
            # 127.1, 0177.0.0.1, 2130706433 and 0x7f000001 are numbers to a resolver. Honest links do not write them.
            inside = bool(_NUMERIC_LABEL.fullmatch(name.rpartition(".")[2])) or "." not in name or _is_inside(name)
        if inside:
            raise Blocked(INSIDE)

    def _is_open(self, address: str) -> bool:
        return is_public(address) or _is_in(self._open, ipaddress.ip_address(address.split("%")[0]))


class GuardedBackend(httpcore2.AsyncNetworkBackend):
    """Opens sockets to addresses that the guard let pass, and to no others."""

    def __init__(self, guard: Guard, inner: httpcore2.AsyncNetworkBackend | None = None) -> None:
        self._guard = guard
        self._inner = inner or httpcore2.AnyIOBackend()

    async def connect_tcp(
        self, host: str, port: int, timeout: float | None = None,  # noqa: ASYNC109 - the signature is httpcore2's
        local_address: str | None = None, socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.AsyncNetworkStream:  # fmt: skip
        try:
            targets = await self._guard.targets(host, port)
        except OSError as error:
            raise httpcore2.ConnectError(f"no address: {error}") from error
        for target in targets[:-1]:
            with suppress(httpcore2.ConnectError, httpcore2.ConnectTimeout):
                return await self._inner.connect_tcp(*target, timeout, local_address, socket_options)
        return await self._inner.connect_tcp(*targets[-1], timeout, local_address, socket_options)


class GuardedTransport(httpx2.AsyncHTTPTransport):
    """An HTTP transport that judges every request, and every connection, by the guard."""

    def __init__(self, guard: Guard, inner: httpcore2.AsyncNetworkBackend | None = None) -> None:
        # SSL_CERT_FILE counts here. A proxy dials for itself, so that the guard judges before it is asked.
        self._context = context = httpx2.create_ssl_context()
        super().__init__(verify=context)
        self._guard = guard
        self._proxied: dict[str, httpx2.AsyncHTTPTransport] = {}
        # The one private name that is used of the library; tests fail if it stops being the pool.
        self._pool = httpcore2.AsyncConnectionPool(
            ssl_context=context,
            max_connections=64,
            max_keepalive_connections=16,
            keepalive_expiry=15.0,
            network_backend=GuardedBackend(guard, inner),
        )

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        self._guard.check(request.url)
        proxy = self._guard.proxy(request.url)
        if not proxy:
            return await super().handle_async_request(request)
        await self._guard.admit(request.url)
        if proxy not in self._proxied:
            self._proxied[proxy] = httpx2.AsyncHTTPTransport(verify=self._context, proxy=proxy)
        return await self._proxied[proxy].handle_async_request(request)

    async def aclose(self) -> None:
        """Close all connections."""
        await super().aclose()
        for transport in self._proxied.values():
            await transport.aclose()


def port_of(url: httpx2.URL) -> int:
    """Give the port that an address leads to."""
    return url.port if url.port is not None else (443 if url.scheme == "https" else 80)


def _plain(host: str) -> str:
    """Write a host as all of its spellings are written: `0:0:0:0:0:0:0:1` is `::1`."""
    host = host.lower().removesuffix(".").strip("[]")
    with suppress(ValueError):
        return str(ipaddress.ip_address(host))
    return host


def _is_numeric(name: str) -> bool:
    """Tell a host that is an address in its ordinary form, with or without the zone of an interface."""
    with suppress(ValueError):
        return bool(ipaddress.ip_address(name.split("%")[0]))
    return False


def _is_in(nets: Iterable[_Net], ip: ipaddress.IPv4Address | ipaddress.IPv6Address) -> bool:
    return any(ip.version == net.version and ip in net for net in nets)


def _is_inside(name: str) -> bool:
    return any(name == inside or name.endswith(f".{inside}") for inside in _INSIDE_NAMES)
