"""Settings, all of them from the environment; what is not set falls back to the embedded default of one person on one machine.

DATABASE_URL and REDIS_URL name the services. `arborweb.embedded` sets both before Django loads when nobody else did,
so that development, tests and production run the same code and only the URLs differ.
"""

import os
from pathlib import Path

import dj_database_url
from csp.constants import NONE, SELF
from django.core.exceptions import ImproperlyConfigured
from django.core.management.utils import get_random_secret_key

from arborweb.celery import app as celery_app
from arborweb.home import home

__all__ = ["celery_app"]  # whoever has settings has the application, so shared tasks of every process belong to it

BASE_DIR = Path(__file__).resolve().parent.parent


def env_bool(name: str, default: bool) -> bool:
    """A yes/no variable: 1, true, yes, on (any case) mean yes."""
    return os.environ.get(name, str(default)).strip().lower() in {"1", "true", "yes", "on"}


def env_int(name: str, default: int) -> int:
    """A whole number from the environment; anything else is refused by name."""
    raw = os.environ.get(name, "").strip()
    try:
        return int(raw) if raw else default
    except ValueError:
        raise ImproperlyConfigured(f"{name} must be a whole number, not {raw!r}.") from None


def env_float(name: str) -> float | None:
    """A number from the environment, None when it isn't set; anything else is refused by name."""
    raw = os.environ.get(name, "").strip()
    try:
        return float(raw) if raw else None
    except ValueError:
        raise ImproperlyConfigured(f"{name} must be a number, not {raw!r}.") from None


def env_number(name: str, default: float, most: float) -> float:
    """A number from 0 to `most` from the environment; anything else is refused by name."""
    value = env_float(name)
    if value is None:
        return default
    if not 0 <= value <= most:
        raise ImproperlyConfigured(f"{name} must be between 0 and {most:g}, not {value:g}.")
    return value


def env_choice(name: str, default: str, choices: tuple[str, ...]) -> str:
    """One of a few words from the environment; anything else is refused by name."""
    value = os.environ.get(name, "").strip() or default
    if value not in choices:
        raise ImproperlyConfigured(f"{name} must be one of {', '.join(choices)}, not {value!r}.")
    return value


def env_list(name: str, default: str = "") -> list[str]:
    """A comma-separated variable."""
    return [part.strip() for part in os.environ.get(name, default).split(",") if part.strip()]


# Development is the embedded default: loopback only, one person, a key kept beside the data (ARBORWEB_SECRET_KEY is set by `up`).
DEBUG = env_bool("DEBUG", False)
SECRET_KEY = os.environ.get("SECRET_KEY") or os.environ.get("ARBORWEB_SECRET_KEY") or get_random_secret_key()
ALLOWED_HOSTS = env_list("ALLOWED_HOSTS", "localhost,127.0.0.1,[::1]")
CSRF_TRUSTED_ORIGINS = env_list("CSRF_TRUSTED_ORIGINS")
HTTPS = env_bool("HTTPS", False)

INSTALLED_APPS = [
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.postgres",
    "channels",
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "csp",
    "memory",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "csp.middleware.CSPMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]

ROOT_URLCONF = "arborweb.urls"
ASGI_APPLICATION = "arborweb.asgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ]
        },
    }
]

# --- Data. The pool and CONN_HEALTH_CHECKS need CONN_MAX_AGE=0 (docs/decisions).
DATABASE_URL = os.environ.get("DATABASE_URL") or "postgres:///arborweb"
DATABASES = {"default": dj_database_url.parse(DATABASE_URL, conn_max_age=0, conn_health_checks=True)}
DATABASES["default"]["ENGINE"] = "django.db.backends.postgresql"
DATABASES["default"].setdefault("OPTIONS", {})["pool"] = {"min_size": 1, "max_size": env_int("DATABASE_POOL", 16), "timeout": 10}
# A statement of a turn takes a millisecond or two: starting parallel workers for it takes three times that, from the cores that others wait for. And what
# a turn reads is in memory, where one page is as near as the next.
DATABASES["default"]["OPTIONS"].setdefault("options", "-c max_parallel_workers_per_gather=0 -c random_page_cost=1.1")
if os.environ.get("ARBORWEB_TEST_DATABASE"):  # two test runs at once don't share a database
    DATABASES["default"]["TEST"] = {"NAME": os.environ["ARBORWEB_TEST_DATABASE"]}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

REDIS_URL = os.environ.get("REDIS_URL") or "redis://127.0.0.1:6379/0"
REDIS_PREFIX = os.environ.get("ARBORWEB_PREFIX", "arborweb")  # every key of ours starts with it; a test run has its own


def celery_broker_url(url: str) -> str:
    """Celery spells a socket path `redis+socket://…?virtual_host=N`, channels and redis-py `unix://…?db=N`."""
    if not url.startswith("unix://"):
        return url
    path, _, query = url.removeprefix("unix://").partition("?")
    database = dict(pair.split("=", 1) for pair in query.split("&") if "=" in pair).get("db", "0")
    return f"redis+socket://{path}?virtual_host={database}"


CHANNEL_LAYERS = {
    "default": {
        "BACKEND": "channels_redis.pubsub.RedisPubSubChannelLayer",
        "CONFIG": {"hosts": [REDIS_URL], "prefix": REDIS_PREFIX},
    }
}
CELERY_BROKER_URL = celery_broker_url(REDIS_URL)
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_TASK_IGNORE_RESULT = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_CANCEL_LONG_RUNNING_TASKS_ON_CONNECTION_LOSS = True
CELERY_BROKER_TRANSPORT_OPTIONS = {
    "visibility_timeout": 600,
    "socket_timeout": 5,
    "socket_connect_timeout": 2,
    "max_retries": 1,
    "global_keyprefix": f"{REDIS_PREFIX}:",
}
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_TASK_PUBLISH_RETRY = False
CELERY_TIMEZONE = "UTC"
CELERY_BEAT_SCHEDULE = {
    "sweep-outbox": {"task": "memory.tasks.sweep_outbox", "schedule": 5.0, "options": {"expires": 5}},
}

# --- People
AUTHENTICATION_BACKENDS = ["arborweb.sign_in.PasswordBackend", "sesame.backends.ModelBackend"]
SESAME_ONE_TIME = True
SESAME_MAX_AGE = 15 * 60
LOGIN_URL = "sign-in"
CSRF_FAILURE_VIEW = "arborweb.errors.csrf_failure"
LOGIN_REDIRECT_URL = "/"
LOGOUT_REDIRECT_URL = "sign-in"
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
        "NumericPasswordValidator",
    )
]
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = SECURE_SSL_REDIRECT = HTTPS
SECURE_REDIRECT_EXEMPT = [r"^healthz$"]  # asked from inside, where there is no TLS
SECURE_HSTS_SECONDS = 31_536_000 if HTTPS else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = SECURE_HSTS_PRELOAD = HTTPS
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
if HTTPS:
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")

CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF],
        "style-src": [SELF],
        "font-src": [SELF],
        "img-src": [SELF, "data:"],
        "connect-src": [SELF],
        "form-action": [SELF],
        "base-uri": [NONE],
        "frame-ancestors": [NONE],
        "manifest-src": [SELF],
    }
}

# --- Files
STATIC_URL = "/static/"
STATIC_ROOT = BASE_DIR / "staticfiles"
STATICFILES_DIRS = [BASE_DIR / "static"]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "whitenoise.storage.CompressedStaticFilesStorage"},
}
WHITENOISE_USE_FINDERS = True

LANGUAGE_CODE = "en"
TIME_ZONE = "UTC"
USE_TZ = True
USE_I18N = False

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": ["memory.api.authentication.ApiKeyAuthentication", "rest_framework.authentication.SessionAuthentication"],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["rest_framework.parsers.JSONParser"],
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "EXCEPTION_HANDLER": "memory.api.errors.handle",
    "DEFAULT_THROTTLE_CLASSES": ["rest_framework.throttling.UserRateThrottle"],
    "DEFAULT_THROTTLE_RATES": {"user": os.environ.get("API_RATE", "1200/min")},
    "DEFAULT_PAGINATION_CLASS": None,
}
SPECTACULAR_SETTINGS = {
    "TITLE": "ArborWeb",
    "DESCRIPTION": "Chat whose memory is a forest of interaction states.",
    "VERSION": "0.1.0",
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "SERVE_INCLUDE_SCHEMA": False,
    "COMPONENT_SPLIT_REQUEST": True,
    "ENUM_NAME_OVERRIDES": {
        "TurnStatus": "memory.models.Turn.Status",
        "JobStatus": "memory.models.Job.Status",
        "EvidenceStatus": "memory.models.EvidenceRow.Status",
        "EvidenceKind": "memory.api.answers.KINDS",
        "RecordKind": "memory.api.answers.RECORD_KINDS",
        "FactKind": "memory.api.answers.FACT_KINDS",
        "HitKind": "memory.api.answers.HIT_KINDS",
    },
}
CACHES = {"default": {"BACKEND": "django.core.cache.backends.redis.RedisCache", "LOCATION": REDIS_URL, "KEY_PREFIX": REDIS_PREFIX}}
DATA_UPLOAD_MAX_MEMORY_SIZE = 4 * 1024 * 1024

# --- Memory. Every limit a person can meet is stated here and in docs/limits.md.
MAX_TURN_BYTES = 32 * 1024
# A file to import, and where it is kept until it is taken in.
MAX_IMPORT_MB = env_int("MAX_IMPORT_MB", 200)
UPLOADS_DIR = home() / "uploads"
EVIDENCE_BUDGET = env_int("EVIDENCE_BUDGET", 16_384)
COMMIT_WAIT_SECONDS = env_int("COMMIT_WAIT_SECONDS", 10)
TURN_STALE_SECONDS = 10
# Offline answers are streamed word by word at this pace; 0 = at once.
OFFLINE_WORDS_PER_SECOND = env_int("OFFLINE_WORDS_PER_SECOND", 60)
# The endpoints: one that answers and extracts, one that embeds, one that reranks. Without the first, the one connected in the page or the offline engine.
CONNECTION_FILE = Path(os.environ.get("ARBORWEB_CONNECTION") or home() / "connection.json")
OPENAI_BASE_URL = os.environ.get("OPENAI_BASE_URL", "").strip()
OPENAI_API_KEY = os.environ.get("OPENAI_API_KEY", "").strip()
OPENAI_MODEL = os.environ.get("OPENAI_MODEL", "").strip()
OPENAI_EXTRACT_MODEL = os.environ.get("OPENAI_EXTRACT_MODEL", "").strip()
OPENAI_TIMEOUT_SECONDS = env_int("OPENAI_TIMEOUT_SECONDS", 180)
OPENAI_PRICE_INPUT, OPENAI_PRICE_OUTPUT = env_float("OPENAI_PRICE_INPUT"), env_float("OPENAI_PRICE_OUTPUT")
OPENAI_EXTRACT_PRICE_INPUT, OPENAI_EXTRACT_PRICE_OUTPUT = env_float("OPENAI_EXTRACT_PRICE_INPUT"), env_float("OPENAI_EXTRACT_PRICE_OUTPUT")
EMBEDDINGS_BASE_URL = os.environ.get("EMBEDDINGS_BASE_URL", "").strip()
EMBEDDINGS_MODEL = os.environ.get("EMBEDDINGS_MODEL", "").strip()
EMBEDDINGS_API_KEY = os.environ.get("EMBEDDINGS_API_KEY", "").strip()
EMBEDDINGS_PRICE = env_float("EMBEDDINGS_PRICE")
RERANK_BASE_URL = os.environ.get("RERANK_BASE_URL", "").strip()
RERANK_MODEL = os.environ.get("RERANK_MODEL", "").strip()
RERANK_API_KEY = os.environ.get("RERANK_API_KEY", "").strip()
# Only `manage.py bench --judge` asks it.
JUDGE_BASE_URL = os.environ.get("JUDGE_BASE_URL", "").strip()
JUDGE_MODEL = os.environ.get("JUDGE_MODEL", "").strip()
JUDGE_API_KEY = os.environ.get("JUDGE_API_KEY", "").strip()
EXTRACTION = env_choice("EXTRACTION", "one-call", ("one-call", "separate", "rules"))
LOCALIZER = env_choice("LOCALIZER", "calibrated", ("calibrated", "additive-ce"))
# Weights of one's own (`manage.py fit_localization --out FILE`) in place of those that came with the code.
LOCALIZER_WEIGHTS = Path(os.environ["LOCALIZER_WEIGHTS"]).resolve() if os.environ.get("LOCALIZER_WEIGHTS", "").strip() else None
# Where ranking alone is less sure than this of a chat turn's place, the endpoint is asked, for so many seconds at most; 0: never.
LOCALIZER_ASK_BELOW = env_number("LOCALIZER_ASK_BELOW", 0.7, 1)
LOCALIZER_ASK_SECONDS = env_number("LOCALIZER_ASK_SECONDS", 10, 120)
MODEL_DIR = Path(os.environ.get("ARBORWEB_MODEL_DIR", BASE_DIR / ".arborweb" / "model"))

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"format": "%(asctime)s %(levelname)s %(name)s %(message)s"}},
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line"}, "nothing": {"class": "logging.NullHandler"}},
    "root": {"handlers": ["stderr"], "level": os.environ.get("LOG_LEVEL", "INFO")},
    # At their more talkative levels they log addresses and whole requests, which are memories. OPENAI_LOG doesn't change it.
    "loggers": {name: {"handlers": ["nothing"], "propagate": False} for name in ("openai", "httpx", "httpx2", "httpcore")},
}
