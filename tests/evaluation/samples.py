"""Small files of our own making in the public formats, each with the traps of its set. SENTINELS stand where a system must never look.

A sentinel marks gold: types of questions, answers, rubrics, public ids that give gold away, names of branches. test_hygiene.py looks for them.
"""

from __future__ import annotations

import gzip
import io
import json
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

SENTINEL = "zzgold"


def write_json(path: Path, value: Any) -> Path:
    text = json.dumps(value, ensure_ascii=False)
    if path.suffix == ".gz":
        path.write_bytes(gzip.compress(text.encode()))
    else:
        path.write_text(text, encoding="utf-8")
    return path


def message(speaker: str, id: str, text: str, **more: str) -> dict[str, str]:
    return {"speaker": speaker, "dia_id": id, "text": text, **more}


def locomo() -> list[dict[str, Any]]:
    return [
        {
            "sample_id": "conv-1",
            "conversation": {
                "speaker_a": "Ana",
                "speaker_b": "Ben",
                "session_2": [message("Ben", "D2:1", "The kiln broke on Monday."), message("Ana", "D2:5", "Then we fire at Olga's place.")],
                "session_2_date_time": "7:05 pm on 9 June, 2023",
                "session_1_date_time": "1:56 pm on 8 May, 2023",
                "session_1": [
                    message("Ana", "D1:1", "I glazed seven bowls in teal."),
                    message("Ben", "D1:2", "Lovely!", blip_caption="a photo of a teal bowl"),
                    message("Ana", "D1:26", "My sister Olga has a studio."),
                ],
                "session_3_date_time": "7:05 pm on 9 July, 2023",
                "session_4_date_time": "7:05 pm on 9 August, 2023",
            },
            "qa": [
                {"question": "What colour are the bowls?", "answer": "teal", "evidence": ["D1:1"], "category": 4},
                {"question": "Where do they fire?", "answer": f"{SENTINEL} at her studio", "evidence": ["D1:26; D2:5"], "category": 1},
                {"question": "When did the kiln break?", "answer": 5, "evidence": ["D", "D:2:1", "D02:01", "D9:9"], "category": 2},
                {"question": "Would Ana like a wheel?", "answer": f"{SENTINEL} likely", "evidence": [], "category": 3},
                {"question": "What did Ben glaze?", "adversarial_answer": f"{SENTINEL} bowls", "evidence": ["D1:1"], "category": 5},
                {"question": "Is Olga Ben's sister?", "adversarial_answer": "Yes", "answer": "No", "evidence": ["D1:26"], "category": 5},
            ],
        }
    ]


def said(role: str, content: str, **more: Any) -> dict[str, Any]:
    return {"role": role, "content": content, **more}


def longmemeval(**changes: Any) -> list[dict[str, Any]]:
    row = {
        "question_id": f"{SENTINEL}17",
        "question_type": f"{SENTINEL}-multi-session",
        "question": "How many plants did I buy?",
        "answer": 12,
        "question_date": "2023/05/20 (Sat) 10:00",
        "answer_session_ids": [f"answer_{SENTINEL}_1", f"answer_{SENTINEL}_2", f"answer_{SENTINEL}_3"],
        "haystack_dates": [
            "2023/05/19 (Fri) 09:00",
            "2023/05/02 (Tue) 08:15",
            "2023/05/20 (Sat) 21:30",
            "2023/05/21 (Sun) 00:05",
            "2023/05/03 (Wed) 11:00",
            "2023/05/04 (Thu) 11:00",
        ],
        "haystack_session_ids": [
            f"answer_{SENTINEL}_1",
            "plain_1",
            f"answer_{SENTINEL}_2",
            f"answer_{SENTINEL}_3",
            "plain_2",
            "plain_2",
        ],
        "haystack_sessions": [
            [said("user", "I bought 12 ferns.", has_answer=True), said("assistant", "Nice."), said("user", "Thanks", has_answer=False)],
            [said("assistant", "As I was saying, water them."), said("user", "Will do."), said("assistant", "Good.")],
            [said("user", "One more cactus, bought today.", has_answer=True), said("assistant", "Noted.")],
            [said("user", "And a palm, a day later.", has_answer=True), said("assistant", "Noted.")],
            [said("user", "Hm"), said("user", "hello?"), said("assistant", "Yes."), said("assistant", "Here I am.")],
            [said("user", "Hm"), said("user", "hello?"), said("assistant", "Yes."), said("assistant", "Here I am.")],
        ],
    }
    return [row | changes]


def beam() -> dict[str, Any]:
    def turn(id: int, user: str, assistant: str, **more: Any) -> list[dict[str, Any]]:
        return [said("user", user, id=id, index="1,1", question_type=f"{SENTINEL}_main", **more), said("assistant", assistant, id=id + 1)]

    return {
        "conversation_id": "7",
        "chat": [
            {
                "batch_number": 1,
                "time_anchor": None,
                "turns": [
                    turn(0, "Sprint one ends on March 29. ->-> 1,1", "Then plan back from it.", time_anchor="March-15-2024"),
                    [*turn(2, "Always show versions. ->-> 1,2)", "I will."), *turn(4, "Is x ->-> y valid?", "No. ->-> 1,3, 4")],
                ],
            },
            {
                "batch_number": 2,
                "time_anchor": None,
                "turns": [turn(6, "Sprint one ends on April 5 now. ->->  2,N/A", "Moved.", time_anchor="April-01-2024")],
            },
        ],
        "probing_questions": {
            f"{SENTINEL}_update": [
                {
                    "question": "When does it end?",
                    "answer": "April 5",
                    "rubric": [f"{SENTINEL} April 5"],
                    "source_chat_ids": {"original": [0], "updated": [6, 7]},
                }
            ],
            "event_ordering": [{"question": "In which order?", "answer": f"{SENTINEL} first", "rubric": ["a", "b"], "source_chat_ids": [4, 1, 4, 99]}],
            "contradiction_resolution": [{"question": "Is it?", "ideal_answer": f"{SENTINEL} both", "rubric": ["a"], "source_chat_ids": {"a": [2], "b": [3]}}],
            "abstention": [{"question": "Who paid?", "ideal_response": f"{SENTINEL} unknown", "rubric": ["says so"]}],
            "summarization": [{"question": "Sum it up", "ideal_summary": f"{SENTINEL} all", "rubric": ["a"], "source_chat_ids": [0, 6]}],
            "preference_following": [{"question": "Libraries?", "expected_compliance": f"{SENTINEL} versions", "rubric": ["v"], "source_chat_ids": []}],
        },
    }


def stream() -> str:
    lines = [("a1", "Plan my kitchen", None), ("a2", "Which hood?", "a1"), ("b1", "Bake bread", None), ("a3", "And the pipe?", "a2"), ("b2", "How long?", "b1")]
    rows = [
        {"id": id, "user": user, "assistant": "Well.", "time": f"2026-01-05T09:{minute:02}:00+00:00", "branch": f"{SENTINEL}-{id[0]}", "parent": parent}
        for minute, (id, user, parent) in enumerate(lines)
    ]
    return "".join(json.dumps(row) + "\n" for row in rows)


IRC_LINES = [
    "[23:57] <ana> hello",
    "[23:58] <ben> any idea why X won't start?",
    "=== cleo [~c@host] has joined #ubuntu",
    "[23:59] <ana> ben: look into the log",
    "[00:01] <dora> how do I mount an iso?",
    "[00:01] <ben> ana: nothing there",
    "[00:00] <ana> dora, ben: mount -o loop; and try startx",
    "[00:02]  * dora thanks ana",
    "[00:03] <eve> ben:",
]
# Lines 3 to 8 are annotated: 3 answers 1 (context), 6 answers 4 and 5, 8 begins a thread.
IRC_LINKS = [(1, 3), (4, 4), (3, 5), (4, 6), (5, 6), (6, 7), (8, 8)]


def irc_files(name: str = "dev/2008-12-11_00") -> dict[str, str]:
    return {
        f"{name}.ascii.txt": "\n".join(IRC_LINES) + "\n",
        f"{name}.annotation.txt": "".join(f"{a} {b} - \n" for a, b in IRC_LINKS),
    }


def write_tar(path: Path, files: dict[str, str]) -> Path:
    with tarfile.open(path, "w:xz") as archive:
        for name, text in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(text.encode())
            archive.addfile(member, io.BytesIO(text.encode()))
    return path


def write_stream(path: Path) -> Path:
    path.write_text(stream())
    return path


# A file of every benchmark that is read here, by its name in BENCHMARKS.
WRITERS: dict[str, Callable[[Path], Path]] = {
    "locomo": lambda directory: write_json(directory / "locomo.json", locomo()),
    "longmemeval": lambda directory: write_json(directory / "longmemeval.json.gz", longmemeval()),
    "beam": lambda directory: write_json(directory / "7.json", beam()),
    "streams": lambda directory: write_stream(directory / "s.jsonl"),
    "irc": lambda directory: write_tar(directory / "irc.tar.xz", irc_files()),
    "irc-text": lambda directory: write_tar(directory / "irc.tar.xz", irc_files()),
}
