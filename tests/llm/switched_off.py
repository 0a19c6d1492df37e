"""Are the tests of the hostile server awake? Each handling is switched off in a copy of the code, and the tests of its script must then fail.

`python -m tests.llm.switched_off [WORD]` (some minutes; not part of the tests): one line a handling, exit code 1 when tests slept through one.
"""

# ruff: noqa: E501 - a switch is one line

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CLIENT, FAILURES, STRUCTURED = "memory/llm/client.py", "memory/llm/failures.py", "memory/llm/structured.py"
EMBED, RERANK, USAGE, THINKING = "memory/llm/embed_endpoint.py", "memory/llm/rerank.py", "memory/llm/usage.py", "memory/llm/thinking.py"
STREAMS, REFUSALS, FORMS, ROUTING = "test_hostile_streams.py", "test_hostile_refusals.py", "test_hostile_structured.py", "test_hostile_routing.py"

# What is switched off, where, the code, what stands there instead, and the tests (file, -k) that must fail.
SWITCHES: tuple[tuple[str, str, str, str, str, str], ...] = (
    ("M1 chunks without choices", CLIENT, "in chunk.choices or ():", "in [chunk.choices[0]]:", STREAMS, "empty_choices or null_choices or usage_only"),
    ("M1 content null", CLIENT, "if delta is not None and isinstance(delta.content, str):", "if delta is not None:", STREAMS, "null_content"),
    ("M1 usage-only chunks", CLIENT, "self._usage = usage\n", "self._usage = None\n", STREAMS, "own_count"),
    ("M1 an empty finish is none", CLIENT, 'choice.finish_reason or reply.finished', '"stop" if choice.finish_reason is not None else reply.finished', STREAMS, "incomplete"),
    ("M2 an end without a finish", CLIENT, "        if not self.finished:\n", "        if False:\n", STREAMS, "incomplete or ends_at_once"),
    ("M2 an error inside a stream, a cut", CLIENT, "if reply.started:\n                    raise", "if reply.started:\n                    return\n                    raise", STREAMS, "incomplete"),
    ("M2 cut at a token limit", CLIENT, 'if self.finished == "length":', "if False:", STREAMS, "server_cut"),
    ("M3 think tags split over chunks", THINKING, "or any(tag.startswith(start) for tag in _OPEN)", "or False", STREAMS, "split_over"),
    ("M3 the end of a tag split", THINKING, "keep = _tail(self._held, self._closing)", "keep = 0", STREAMS, "split_over"),
    ("M3 reasoning fields", CLIENT, 'in ("reasoning_content", "reasoning")):\n', "in ()):\n", STREAMS, "field_of_its_own"),
    ("M3 reasoning only is an error of its own", CLIENT, '"only_reasoning" if self.started else "empty_answer"', '"empty_answer"', STREAMS, "without_an_answer"),
    ("M3 thinking in whole answers", STRUCTURED, "text = without_thinking(text)\n", "text = text.strip()\n", FORMS, "put_right"),
    ("M3 reasoning only, structured", CLIENT, 'raise _nothing_said("only_reasoning")', "pass", FORMS, "error_of_its_own"),
    ("M4 the form is probed", CLIENT, "known = structured_mode(self)", 'known = "json_schema"', FORMS, "strongest_form"),
    ("M4 the form is remembered", CLIENT, "            self.memory.learn(self.endpoint, structured=known)\n", "", FORMS, "strongest_form"),
    ("M4 a refused form is left", CLIENT, 'if failure.drop == "response_format":', "if False:", FORMS, "refuse"),
    ("M4 what fits the schema", STRUCTURED, "    if not errors:\n        return None\n", "    return None\n", FORMS, "does_not_fit or misfit"),
    ("M4 fences", STRUCTURED, "for match in _FENCE.finditer(text)", "for match in ()", FORMS, "put_right"),
    ("M4 prose around JSON", STRUCTURED, "    while start >= 0:", "    while False:", FORMS, "put_right"),
    ("M4 trailing commas", STRUCTURED, 'if end > kept and text[end - 1] == ",":', "if False:", FORMS, "put_right"),
    ("M4 commas in texts stay", STRUCTURED, "        elif character == '\"':\n            inside = True\n", "", FORMS, "inside_a_text"),
    ("M4 an echoed schema with values", STRUCTURED, "if isinstance(inner, dict) and", "if False and", FORMS, "put_right or does_not_fit"),
    ("M4 a part is no whole", STRUCTURED, "if end is None and _BEGINS_OBJECT.match(text, start):", "if False:", FORMS, "part_is_never"),
    ("M4 asked once more", CLIENT, "for attempt in (1, 2):", "for attempt in (2,):", FORMS, "does_not_fit or twice_the_room"),
    ("M4 a cut answer gets more room", CLIENT, "max_tokens *= 2", "pass", FORMS, "twice_the_room"),
    ("M4 a list cut twice says so", STRUCTURED, '(*repairs, "cut", *found[1])', "(*repairs, *found[1])", FORMS, "cut_twice"),
    ("M4 cut lists", STRUCTURED, "if cut_allowed and", "if False and", FORMS, "cut_twice"),
    ("M5 tried again", FAILURES, "if status in _PASSING and attempt < ATTEMPTS:", "if False:", REFUSALS, "passes_is_tried"),
    ("M5 Retry-After", FAILURES, "    asked = _retry_after(error)\n", "    asked = None\n", REFUSALS, "retry_after or longer_wait"),
    ("M5 Retry-After is bounded", FAILURES, "wait = wait if (asked or 0.0) <= LONGEST_WAIT_SECONDS else None", "wait = 0.01", REFUSALS, "longer_wait or as_a_date"),
    ("M5 jitter", FAILURES, "return random.uniform(longest / 2, longest)", "return longest", REFUSALS, "waits_grow"),
    ("M5 only before the first token", CLIENT, "if reply.started:\n                    raise", "if False:\n                    raise", REFUSALS, "after_the_first"),
    ("M5 timeouts", FAILURES, "if isinstance(error, openai.APITimeoutError):", "if False:", REFUSALS, "silent_server"),
    ("M5 a rejected parameter is dropped", FAILURES, "(name := _rejected(error, optional))", "(name := None)", REFUSALS, "dropped_once or newer_name"),
    ("M5 … and remembered", CLIENT, "            self.memory.learn(self.endpoint, rejected=tuple(dict.fromkeys((*rejected, failure.drop))))\n", "            pass\n", REFUSALS, "dropped_once"),
    ("M5 max_tokens by its newer name", CLIENT, 'kept["max_completion_tokens"] = parameters["max_tokens"]', "pass", REFUSALS, "newer_name"),
    ("M6 an overflow as 400", FAILURES, "if status in (400, 413, 422) and _overflows(error):", "if False:", REFUSALS, "too_long"),
    ("M6 the length it tells", CLIENT, "if failure.context_length:", "if False:", REFUSALS, "too_long"),
    ("M6 a silent cut", USAGE, "return sent - reported > CUT_TOKENS and reported < CUT_SHARE * sent", "return False", STREAMS, "cut_silently"),
    ("M6 usage missing", CLIENT, "if self._usage is None:\n            return", "if self._usage is None:\n            return Usage()\n            return", STREAMS, "counted_here"),
    ("M7 another length", EMBED, "if wrong is not None:", "if False:", "test_embed_endpoint.py", "another_length"),
    ("M7 base64", EMBED, "if isinstance(raw, str) else raw", "if False else raw", "test_embed_endpoint.py", "length_one"),
    ("M7 their order", EMBED, 'row.get("index", number): row', "number: row", "test_embed_endpoint.py", "length_one"),
    ("M7 no /embeddings", EMBED, "if failure.status in (404, 405, 501):", "if False:", "test_embed_endpoint.py", "without_embeddings"),
    ("M7 texts too long", EMBED, 'if error.code != "context_overflow":', "if True:", "test_embed_endpoint.py", "too_long"),
    ("M7 nonsense", EMBED, "if not np.isfinite(size) or size == 0.0:", "if False:", "test_embed_endpoint.py", "nonsense"),
    ("M8 the server's words", FAILURES, '"The model endpoint refused the key."', "str(error.body)", REFUSALS, "reaches_no_exception"),
    ("M8 the error behind", CLIENT, "                    raise self._told(failure.error) from None\n                else:\n                    await", "                    raise self._told(failure.error) from error\n                else:\n                    await", REFUSALS, "reaches_no_exception"),
    ("M8 addresses", "memory/llm/endpoints.py", 'urlunsplit((parts.scheme, netloc, parts.path.rstrip("/"), "", ""))', "self.base_url", REFUSALS, "password"),
    ("rerank: probabilities", RERANK, "if all(0.0 <= score <= 1.0 for score in raw):", "if False:", "test_rerank.py", "order_of_the_texts"),
    ("rerank: TEI", RERANK, 'if failure.status in (400, 422) and "documents" in body:', "if False:", "test_rerank.py", "order_of_the_texts"),
    ("asking: cut off, however it drips", CLIENT, "async with asyncio.timeout(deadline - time.monotonic()):", "if True:", ROUTING, "slow_server or all_tries"),
    ("asking: one try", CLIENT, "failure.wait is None or deadline is not None", "failure.wait is None", ROUTING, "no_second_time"),
    ("asking: nothing is probed", CLIENT, 'self.memory.known(self.endpoint).structured or "json_schema"', "self._mode()", ROUTING, "one_small_request"),
    ("asking: only what was offered", "memory/llm/prompts/route.py", '{"type": "integer", "enum": list(range(number))}', '{"type": "integer"}', ROUTING, "no_second_time"),
    ("asking: memory is quoted", "memory/llm/prompts/route.py", '.replace("<", "‹").replace(">", "›")', "", "test_route_prompt.py", "attract or end_neither"),
    ("asking: on one line", "memory/llm/prompts/route.py", "return one_line(text)", "return text", "test_route_prompt.py", "attract"),
    ("rerank: a text missed", RERANK, "    if not whole:\n", "    if False:\n", "test_rerank.py", "miss_a_text"),
)  # fmt: skip
ALONE = {"DJANGO_SETTINGS_MODULE": "arborweb.settings", "DATABASE_URL": "postgres:///none", "REDIS_URL": "redis://none", "PYTHONDONTWRITEBYTECODE": "1"}
OUTCOMES = {1: "", 0: "its tests pass all the same", 5: "no test has such a name"}


def asleep(name: str, path: str, code: str, instead: str, test: str, words: str) -> str:
    """Why this switch shows nothing, empty when its tests failed as they must. In the copy, with nothing of `memory.llm` imported yet."""
    whole = Path(path).read_text()
    if code not in whole:
        return "the code isn't there any more"
    try:
        Path(path).write_text(whole.replace(code, instead))
        child = os.fork()  # everything heavy is imported already, so a run takes a second
        if child == 0:
            import pytest

            for module in [name for name in sys.modules if name.startswith("memory.llm")]:
                del sys.modules[module]  # the admin has imported some
            with open(os.devnull, "w") as nothing:
                os.dup2(nothing.fileno(), 1)
                # Without the services that tests/conftest.py starts: none of these tests needs one.
                os._exit(pytest.main(["-q", "-x", "-p", "no:cacheprovider", "--confcutdir=tests/llm", f"tests/llm/{test}", "-k", words]))
        _, status = os.waitpid(child, 0)
    finally:
        Path(path).write_text(whole)
    return OUTCOMES.get(os.waitstatus_to_exitcode(status), f"pytest ended with {status}")


def switch_all(wanted: str) -> int:
    """In the copy: one line a handling."""
    import django
    import httpx2  # noqa: F401
    import jsonschema  # noqa: F401
    import openai.resources.chat  # noqa: F401
    import pytest  # noqa: F401

    django.setup()
    slept = 0
    for switch in SWITCHES:
        if wanted in switch[0]:
            why = asleep(*switch)
            slept += bool(why)
            sys.stdout.write(f"{'ASLEEP' if why else 'awake '} {switch[0]}{': ' + why if why else ''}\n")
            sys.stdout.flush()
    return 1 if slept else 0


def main() -> int:
    wanted = sys.argv[1] if len(sys.argv) > 1 else ""
    if os.environ.get("SWITCHED_OFF_IN") == os.getcwd():
        return switch_all(wanted)
    with tempfile.TemporaryDirectory() as aside:
        root = os.path.realpath(Path(aside) / "code")
        shutil.copytree(ROOT, root, ignore=shutil.ignore_patterns(".git", ".venv", ".arborweb", "node_modules", "static", "__pycache__"))
        env = {**os.environ, **ALONE, "PYTHONPATH": root, "SWITCHED_OFF_IN": root}
        return subprocess.run([sys.executable, "-m", "tests.llm.switched_off", wanted], cwd=root, env=env).returncode


if __name__ == "__main__":
    raise SystemExit(main())
