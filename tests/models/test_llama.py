"""A model file as judge: where it comes from, and what is said where it cannot be had or loaded."""

import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest
from pydantic import BaseModel

from models.chat import ChatModel
from models.llama import DEFAULT, LlamaModel, model_file
from models.model_loading import ModelUnusable
from models.protocol import Message, ModelFailed, Question
from models.settings import JudgeSettings
from tests.models.grounding.hub import empty_cache, keep


class Number(BaseModel):
    number: int


QUESTION = Question(task="t", prompt_version="1", messages=(Message("user", "Is it?"),), reply=Number)


@pytest.mark.parametrize("source", ["nowhere.gguf", "Qwen/Qwen2.5", "a/b/c.bin", "/there/is/none.gguf"])
def test_a_name_that_is_neither_file_nor_of_the_hub_is_refused(source: str):
    with pytest.raises(ModelUnusable, match=r"is no file here, and no OWNER/REPOSITORY/FILE\.gguf"):
        model_file(source)


def test_without_a_way_to_the_hub_it_says_so(tmp_path: Path):
    with (
        empty_cache(tmp_path / "hub", "http://127.0.0.1:9"),
        pytest.raises(ModelUnusable, match=r"judge\.model .* cannot be loaded"),
    ):
        model_file(DEFAULT)


def test_a_file_of_the_hub_is_found_in_its_cache(tmp_path: Path):
    with empty_cache(tmp_path / "hub", "http://127.0.0.1:9") as cache:
        kept = keep(cache, "somebody/models", {"small.gguf": b"GGUF"})
        assert model_file("somebody/models/small.gguf") == kept / "small.gguf"


async def test_a_file_that_is_no_model_fails_every_question_with_the_reason(tmp_path: Path):
    (tmp_path / "broken.gguf").write_bytes(b"not a model")
    settings = JudgeSettings(backend="llama", model=str(tmp_path / "broken.gguf"))
    model = LlamaModel(settings, partial(ChatModel, section="judge", journal=None, on_breaker=None))
    try:
        for _ in range(2):
            with pytest.raises(ModelFailed, match=r"llama\.cpp cannot load .*broken\.gguf") as failed:
                await model.ask(QUESTION)
            assert failed.value.cause == "judge_failed"
        assert model.name == "llama/broken.gguf"
    finally:
        await model.close()


def test_choosing_the_backend_loads_nothing():
    program = (
        "import sys\n"
        "from models.build import build_judge\n"
        "from models.settings import JudgeSettings\n"
        "build_judge(JudgeSettings(backend='llama', model='/none.gguf'))\n"
        "print([name for name in ('xllamacpp', 'huggingface_hub', 'numpy') if name in sys.modules])\n"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"
