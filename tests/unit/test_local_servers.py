import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from agents.core.errors import ConfigError
from agents.core.settings import Settings
from agents.llm.choose_models import orders
from agents.llm.model_names import find_servers, models_at


@contextmanager
def serving(status: int, body: object):
    """A server on loopback that says which models it has."""

    class Answers(BaseHTTPRequestHandler):
        def do_GET(self):
            data = json.dumps(body).encode()
            self.send_response(status if self.path == "/v1/models" else 404)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_):
            pass

    server = HTTPServer(("127.0.0.1", 0), Answers)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        server.server_close()


def test_a_server_that_serves_models_is_found_and_says_which_setting_uses_it():
    with serving(200, {"data": [{"id": "qwen3:8b"}, {"id": "phi"}]}) as port:
        (found,) = find_servers([(port, "Ollama"), (1, "LM Studio")])

    assert found.models == ("qwen3:8b", "phi")
    assert f"DOSSIER_MODEL=http://127.0.0.1:{port}/v1" in found.line


@pytest.mark.parametrize(
    ("status", "body"), [(404, {}), (200, {"data": []}), (200, ["no", "list"]), (500, {"data": 1})]
)
def test_what_serves_no_models_is_no_model_server(status, body):
    with serving(status, body) as port:
        assert models_at(f"http://127.0.0.1:{port}/v1", patience_s=1.0) == ()


def test_our_own_port_is_not_looked_at():
    with serving(200, {"data": [{"id": "m"}]}) as port:
        assert find_servers([(port, "vLLM")], besides=port) == ()


def test_the_address_of_a_server_is_setting_enough():
    with serving(200, {"data": [{"id": "qwen3:8b"}]}) as port:
        address = f"http://127.0.0.1:{port}/v1"
        order = orders(["manager"], Settings(DOSSIER_MODEL=address))["manager"]

    assert (order.first.name, order.first.base) == ("openai/qwen3:8b", address)
    assert order.first.own_server
    assert order.first.stays_here
    assert order.others == (), "nothing that stays on this machine is sent elsewhere"


def test_an_address_at_which_nobody_answers_is_refused_in_one_sentence():
    with pytest.raises(ConfigError, match="no model server answers at http://127.0.0.1:1/v1"):
        orders(["manager"], Settings(DOSSIER_MODEL="http://127.0.0.1:1/v1"))
