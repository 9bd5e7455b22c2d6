# The server of a study: docs/people/container.md. It runs without root, listens on the container's own loopback
# address if its command names no other, and keeps everything that it writes in /answers.
#
# The base image is a tag, so that a new build gets its security fixes. Whoever needs the same image again names it by
# its digest: --build-arg PYTHON_IMAGE=python@sha256:...
ARG PYTHON_IMAGE=python:3.13-slim

FROM ${PYTHON_IMAGE} AS build
WORKDIR /build
COPY pyproject.toml README.md LICENSE requirements.lock requirements-build.lock ./
RUN python -m venv --without-pip /opt/lexiscope \
    && python -m pip --python /opt/lexiscope install --no-cache-dir --require-hashes -r requirements.lock \
    && python -m pip install --no-cache-dir --require-hashes -r requirements-build.lock
COPY src src
# Without isolation, the build uses the backend that was installed by hash and fetches nothing.
RUN python -m pip wheel --no-cache-dir --no-index --no-deps --no-build-isolation --wheel-dir /wheels . \
    && python -m pip --python /opt/lexiscope install --no-cache-dir --no-index --no-deps /wheels/*.whl

FROM ${PYTHON_IMAGE}
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
