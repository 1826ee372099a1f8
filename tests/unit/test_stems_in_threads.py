"""Words are stemmed by several threads at once: models without a network answer beside the event loop."""

import itertools
import sys
from concurrent.futures import ThreadPoolExecutor

from agents.nlp.tokens import stem

WORDS = [
    "".join(letters) + ending for letters in itertools.product("bcdfgr", repeat=3) for ending in ("ations", "ingly")
]


def test_threads_that_stem_at_once_get_what_one_alone_gets():
    alone = [stem.__wrapped__(word) for word in WORDS]
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(8) as pool:
            together = list(pool.map(lambda _: [stem.__wrapped__(word) for word in WORDS], range(8)))
    finally:
        sys.setswitchinterval(before)
    assert all(found == alone for found in together)
