# Container image of the service; see docs/operate.md
ARG BASE=python:3.13-slim
FROM ${BASE}

ENV PATH=/opt/venv/bin:$PATH PYTHONUNBUFFERED=1 HOST=0.0.0.0 PORT=8000 DATABASE_URL=sqlite:////data/articles.db
WORKDIR /app

# The editor for "flask articles edit". It keeps its history in HOME, which the user does not have.
ENV EDITOR=nano HOME=/tmp
RUN apt-get update && apt-get install --yes --no-install-recommends nano && rm -rf /var/lib/apt/lists/*

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

# http.client ignores proxy variables, which Docker may set in every container.
HEALTHCHECK --interval=10s --timeout=6s --start-period=20s CMD ["python", "-c", "from http.client import HTTPConnection; from os import environ; connection = HTTPConnection('127.0.0.1', environ['PORT'], timeout=5); connection.request('GET', '/healthz'); exit(connection.getresponse().status != 200)"]
CMD ["python", "app.py"]
