# The server of a study: docs/people/container.md. It runs without root, listens on the container's own loopback
# address, and keeps everything that it writes in /answers.
ARG PYTHON=3.13

FROM python:${PYTHON}-slim AS build
WORKDIR /build
COPY pyproject.toml README.md LICENSE requirements.lock ./
RUN python -m venv /opt/lexiscope \
    && /opt/lexiscope/bin/pip install --no-cache-dir --require-hashes -r requirements.lock
COPY src src
RUN /opt/lexiscope/bin/pip install --no-cache-dir --no-deps .

FROM python:${PYTHON}-slim
COPY --from=build /opt/lexiscope /opt/lexiscope
RUN groupadd --gid 10001 lexiscope \
    && useradd --uid 10001 --gid 10001 --no-create-home lexiscope \
    && install --directory --mode 700 --owner 10001 --group 10001 /answers
ENV PATH=/opt/lexiscope/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    HOME=/tmp \
    PUBLIC_URL=http://127.0.0.1:8000
USER 10001:10001
WORKDIR /study
VOLUME ["/answers"]
EXPOSE 8000
STOPSIGNAL SIGTERM
# The server answers only under its public address, which is why the request names it.
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s --retries=3 \
    CMD ["python", "-c", "import os, urllib.parse, urllib.request; urllib.request.urlopen(urllib.request.Request('http://127.0.0.1:8000/health', headers={'Host': urllib.parse.urlsplit(os.environ['PUBLIC_URL']).netloc}), timeout=4)"]
ENTRYPOINT ["lexiscope"]
CMD ["annotate", "serve", "study.yaml", "--folder", "/answers"]
