"""A model server that is of no use, to see what is left of a run then: as much as the offline engine finds alone.

    python -m tests.bench.useless_model {apologies|nothing|wrong} PORT
    python -m tests.bench.model_eval DATA --rows FILE --limit 50 --base http://127.0.0.1:PORT/v1

It answers each question with an apology; with no fact; or, asked for facts, with every third sentence, sure of each.
"""

import argparse
import json
import re
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

APOLOGY = "I am sorry, but I cannot help with that."
NOTHING = {"facts": [], "limitations": [], "contradictions": [], "follow_up_questions": []}
SENTENCE = re.compile(r"(?m)^(\d+)\. ")


def said(kind, messages):
    """What the model says to such messages."""
    if kind == "apologies" or not (kind == "nothing" or messages[0]["content"].startswith("You read sources")):
        return APOLOGY
    sources = messages[-1]["content"].partition("Source:")[2]
    numbers = [int(number) for number in SENTENCE.findall(sources)] if kind == "wrong" else []
    facts = [{"sentences": [number], "question": 1, "sure": 9} for number in numbers[::3][:8]]
    return json.dumps({**NOTHING, "facts": facts})


class Useless(BaseHTTPRequestHandler):
    """OpenAI's way of answering, streamed or whole."""

    kind = "apologies"

    def log_message(self, *_):
        """Say nothing."""

    def do_GET(self):
        self._give("application/json", json.dumps({"data": [{"id": "local"}]}))

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        text = said(self.kind, asked["messages"])
        tokens_in, tokens_out = sum(len(one["content"]) for one in asked["messages"]) // 4, len(text) // 4
        whole = {
            "id": "x", "model": "local",
            "usage": {"prompt_tokens": tokens_in, "completion_tokens": tokens_out, "total_tokens": tokens_in + tokens_out},
        }  # fmt: skip
        message = {"role": "assistant", "content": text}
        if asked.get("stream"):
            chunk = whole | {
                "object": "chat.completion.chunk",
                "choices": [{"index": 0, "delta": message, "finish_reason": "stop"}],
            }
            self._give("text/event-stream", f"data: {json.dumps(chunk)}\n\ndata: [DONE]\n\n")
            return
        choices = [{"index": 0, "message": message, "finish_reason": "stop"}]
        self._give("application/json", json.dumps(whole | {"object": "chat.completion", "choices": choices}))

    def _give(self, kind, text):
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(text.encode())))
        self.end_headers()
        self.wfile.write(text.encode())


def main():
    """Serve until stopped."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kind", choices=("apologies", "nothing", "wrong"))
    parser.add_argument("port", type=int)
    given = parser.parse_args()
    Useless.kind = given.kind
    ThreadingHTTPServer(("127.0.0.1", given.port), Useless).serve_forever()


if __name__ == "__main__":
    main()
