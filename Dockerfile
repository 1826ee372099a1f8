# The chat server and the worker are the same image: the command says which.
FROM python:3.11-slim AS build
COPY requirements.lock /
# Every package by its hash, none resolved here. The environment alone goes into the image, pip's leftovers do not.
RUN python -m venv /venv && /venv/bin/pip install --no-cache-dir --disable-pip-version-check --require-hashes --no-deps -r /requirements.lock

FROM python:3.11-slim
# A fixed number, so that a volume's files keep their owner over rebuilds.
RUN useradd --uid 10001 --no-create-home --home-dir /app --shell /usr/sbin/nologin dossier
WORKDIR /app
COPY --from=build /venv /venv
COPY .chainlit/config.toml .chainlit/config.toml
COPY app.py chainlit.md LICENSE ./
COPY agents agents
COPY prompts prompts
COPY public public
COPY examples examples
# Compiled here: the user that runs it can write nothing but the data folder.
RUN /venv/bin/python -m compileall -q agents app.py && install -d -o dossier .data
ENV PATH=/venv/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    LITELLM_LOCAL_MODEL_COST_MAP=True \
    LITELLM_MODE=PRODUCTION
USER dossier
VOLUME /app/.data
EXPOSE 8000
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 \
    CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8000/healthz', timeout=4)"]
CMD ["python", "-m", "agents", "serve"]
