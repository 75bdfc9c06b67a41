"""Networks with weights of 8 bits, on the processor by ONNX Runtime: made once from the full ones, and kept.

Weights are rounded in blocks of a row, and activations likewise, as they are multiplied: a row is read the same
whatever else is in its batch, which does not hold where one scale is taken from the whole batch.
"""

import hashlib
import logging
import tempfile
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any

from checkers.oracle.grounding.hub import Say, Source
from checkers.oracle.grounding.pairs import Logits, Tokens
from checkers.oracle.local.settings import NAMED_JUDGES
from checkers.oracle.model_loading import ModelUnusable
from checkers.wording import first_line

_BLOCK = 64
"""Weights that share one scale: with smaller ones, one large activation spoils less, and more is to be multiplied."""

_MULTIPLY_IN_INT8 = 4
"""ONNX Runtime's `accuracy_level` at which activations are rounded as well; below, weights are only stored so."""

_MADE_BY = ("onnx", "onnxruntime", "onnxscript", "torch", "transformers")
"""Packages whose versions may change what is made."""

_TALKATIVE = ("onnxruntime.quantization", "onnxscript", "onnx_ir", "torch.onnx")

_NETWORK = "network.onnx"


class Int8Network:
    """A network in a file of ONNX; implements `Network`."""

    def __init__(self, file: Path, *, threads: int) -> None:
        """`threads` are those of the processor for one forward pass."""
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        # Threads that wait for the next batch would take processor time from the rest of the service.
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        self._session = onnxruntime.InferenceSession(file, options, providers=["CPUExecutionProvider"])
        self._names = [each.name for each in self._session.get_inputs()]

    def __call__(self, inputs: Mapping[str, Tokens]) -> Logits:
        logits: Logits = self._session.run(None, {name: inputs[name] for name in self._names})[0]
        return logits


def int8_network(
    judge: str,
    sources: Mapping[Source, Path],
    model: Callable[[], Any],
    *,
    inputs: Sequence[str],
    constant: Mapping[str, int],
    threads: int,
    say: Say,
) -> Int8Network:
    """The judge's network with weights of 8 bits, from the file that is kept, or made from the full one and kept.

    Args:
        judge: What messages call it.
        sources: Where its files are; others of the same name are another network.
        model: Reads the full network, of transformers.
        inputs: Names of what the tokenizer gives it.
        constant: Its further inputs, with their one value.
        threads: Of the processor, for one forward pass.
        say: Is told if the file has to be made.

    Raises:
        ModelUnusable: there is a GPU, a package is missing, or the network cannot be expressed in ONNX.
    """
    import torch

    if torch.cuda.is_available():
        raise ModelUnusable(
            "judge.local.precision = 'int8' is for the processor, and this machine has a GPU, where 'full' is faster; "
            "set 'full', or hide the GPU (CUDA_VISIBLE_DEVICES='')"
        )
    try:
        file = _folder(judge, sources) / _NETWORK
        if not file.is_file():
            say(f"making the int8 network of {judge}, once; this takes some minutes and about three times its memory")
            _make(judge, file, model(), inputs, constant)
            say(f"the int8 network of {judge} is kept in {file.parent}")
        return Int8Network(file, threads=threads)
    except ImportError as error:
        raise ModelUnusable(
            f"judge.local.precision = 'int8' needs a package that is missing ({error}): pip install 'assay[local,onnx]'"
        ) from error


def _folder(judge: str, sources: Mapping[Source, Path]) -> Path:
    """Where the network of these files by these packages is kept: beside the cache of the hub."""
    from huggingface_hub import constants

    parts = [f"{_BLOCK} {_MULTIPLY_IN_INT8}", *(f"{package} {version(package)}" for package in _MADE_BY)]
    for source, folder in sources.items():
        if Path(source.repository).is_dir():
            files = sorted(path for path in folder.iterdir() if path.is_file())
            parts += [str(folder.resolve())]
            parts += [f"{path.name} {path.stat().st_size} {path.stat().st_mtime_ns}" for path in files]
        else:
            # The hub's cache names the folder by the commit.
            parts += [f"{source.repository} {folder.name}"]
    slug = "".join(sign if sign.isalnum() or sign in "-." else "-" for sign in Path(judge).name)
    digest = hashlib.sha256("\n".join([judge, *parts]).encode()).hexdigest()[:16]
    return Path(constants.HF_HUB_CACHE).parent / "assay-int8" / f"{slug}-{digest}"


def _make(judge: str, file: Path, model: Any, inputs: Sequence[str], constant: Mapping[str, int]) -> None:
    cache = file.parent.parent
    cache.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache, prefix=".making-") as scratch, _quiet():
        full, small = Path(scratch, "full"), Path(scratch, "int8")
        full.mkdir()
        small.mkdir()
        try:
            _export(full / _NETWORK, model, inputs, constant)
            _round(full / _NETWORK, small / _NETWORK)
        except (ImportError, OSError):
            raise
        except Exception as error:
            raise ModelUnusable(
                f"{judge} cannot be made into an int8 network ({first_line(error)}); set judge.local.precision = "
                f"'full', or take one of {', '.join(NAMED_JUDGES)}"
            ) from error
        try:
            small.rename(file.parent)
        except OSError:
            # Another process may have been faster, and its file is the same.
            if not file.is_file():
                raise


def _export(file: Path, model: Any, inputs: Sequence[str], constant: Mapping[str, int]) -> None:
    import torch

    class LogitsAlone(torch.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.model = model.eval()

        def forward(self, *given: Any) -> Any:
            named = dict(zip(inputs, given, strict=True))
            for name, value in constant.items():
                named[name] = torch.full((given[0].shape[0], 1), value, dtype=torch.long)
            return self.model(**named).logits

    any_size = {0: torch.export.Dim.DYNAMIC, 1: torch.export.Dim.DYNAMIC}
    with torch.no_grad():
        torch.onnx.export(
            LogitsAlone(),
            tuple(torch.ones((2, 16), dtype=torch.long) for _ in inputs),
            file,
            dynamo=True,
            verbose=False,
            input_names=list(inputs),
            dynamic_shapes={"given": tuple(any_size for _ in inputs)},
        )


def _round(full: Path, small: Path) -> None:
    from onnxruntime.quantization.matmul_nbits_quantizer import MatMulNBitsQuantizer

    quantizer = MatMulNBitsQuantizer(
        str(full), bits=8, block_size=_BLOCK, is_symmetric=True, accuracy_level=_MULTIPLY_IN_INT8
    )
    quantizer.process()
    if not any(node.op_type == "MatMulNBits" for node in quantizer.model.nodes()):
        raise ValueError("it has no layer whose weights could be rounded")
    quantizer.model.save_model_to_file(str(small), use_external_data_format=True)


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep the packages' progress and warnings, a line for each layer, out of the service's logs."""
    root = logging.getLogger()
    before = root.level, list(root.handlers)
    levels = {name: logging.getLogger(name).level for name in _TALKATIVE}
    for name in levels:
        logging.getLogger(name).setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        for name, level in levels.items():
            logging.getLogger(name).setLevel(level)
        # ONNX Runtime's quantizer sets up the logging of the whole process when it is imported.
        root.setLevel(before[0])
        root.handlers[:] = before[1]
