# Container image of the service; see docs/servers.md
ARG BASE=python:3.13-slim
FROM ${BASE}

ENV PATH=/opt/venv/bin:$PATH PYTHONUNBUFFERED=1 HOST=0.0.0.0 PORT=8000 DATABASE_URL=sqlite:////data/articles.db
WORKDIR /app

COPY requirements*.txt ./
RUN python3 -m venv /opt/venv \
    && pip install --no-cache-dir --only-binary :all: -r requirements-postgresql.txt \
    && pip uninstall --quiet --yes pip

COPY . .
# The code belongs to root. The unprivileged user can only write to the volume, whose ownership must be set before VOLUME.
RUN python -m compileall -q . \
    && useradd --uid 10001 --no-create-home articles \
    && install --directory --owner=articles --group=articles --mode=700 /data
VOLUME /data
USER articles
EXPOSE 8000

HEALTHCHECK --interval=10s --timeout=6s --start-period=20s CMD ["python", "-c", "from os import environ; from urllib.request import urlopen; urlopen('http://127.0.0.1:' + environ['PORT'] + '/healthz', timeout=5)"]
CMD ["python", "app.py"]
