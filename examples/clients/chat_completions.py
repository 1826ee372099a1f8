"""Ask Dossier as a model, with the official OpenAI client: progress on standard error, the report on standard output.

python examples/clients/chat_completions.py "In which year was Eelgrass Watch founded?" [http://localhost:8000/v1] [key]
"""

import sys

from openai import OpenAI


def main() -> None:
    """Stream one answer, then list what it cites."""
    question = sys.argv[1]
    address = sys.argv[2] if len(sys.argv) > 2 else "http://localhost:8000/v1"
    key = sys.argv[3] if len(sys.argv) > 3 else "none"  # from the machine itself no key is needed
    client = OpenAI(base_url=address, api_key=key, timeout=600)
    stream = client.chat.completions.create(
        model="research-simple", messages=[{"role": "user", "content": question}], stream=True
    )
    cited: dict[str, str] = {}
    for chunk in stream:
        for choice in chunk.choices:
            more = choice.delta.model_extra or {}
            sys.stderr.write(more.get("reasoning_content") or "")
            sys.stdout.write(choice.delta.content or "")
            for note in more.get("annotations") or ():
                cited[note["url_citation"]["url"]] = note["url_citation"]["title"]
    for url, title in cited.items():
        sys.stderr.write(f"cited: {title} ({url})\n")


if __name__ == "__main__":
    main()
