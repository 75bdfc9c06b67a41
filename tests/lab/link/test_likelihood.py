"""Sentence likelihoods: of a local causal model as its own loss has it, and of an endpoint as it tells them."""

from pathlib import Path

import pytest

from lab.link.models import CausalModel, EndpointScorer
from models.protocol import ModelFailed, ModelUnavailable
from models.settings import SubjectSettings
from tests.lab.link.world import World, log_likelihood
from tests.support.stub_acts import Act, page, status

SENTENCES = ["the cat sat", "the cat sat on the mat", "mat", "the dog sat on the dog on the mat"]


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A network of random weights over eight words, in a folder as the hub's models are."""
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast, set_seed

    folder = tmp_path_factory.mktemp("tiny")
    words = ["<s>", "the", "cat", "sat", "on", "mat", "dog", "<unk>"]
    tokenizer = Tokenizer(models.WordLevel({word: place for place, word in enumerate(words)}, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, bos_token="<s>", unk_token="<unk>").save_pretrained(folder)
    set_seed(7)
    GPT2LMHeadModel(GPT2Config(vocab_size=8, n_positions=64, n_embd=16, n_layer=2, n_head=2)).save_pretrained(folder)
    return folder


async def test_a_local_model_tells_the_mean_log_probability_of_a_sentences_tokens(tiny: Path):
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    model, tokenizer = AutoModelForCausalLM.from_pretrained(tiny).eval(), AutoTokenizer.from_pretrained(tiny)
    scorer = CausalModel(str(tiny), lambda message: None)
    try:
        found, usage = await scorer.log_likelihoods(SENTENCES)
    finally:
        await scorer.close()
    for sentence, mean in zip(SENTENCES, found, strict=True):
        ids = torch.tensor([tokenizer("<s> " + sentence)["input_ids"]])
        with torch.inference_mode():
            assert mean == pytest.approx(-model(ids, labels=ids).loss.item(), abs=1e-5)
    assert usage.prompt_tokens == sum(1 + len(sentence.split()) for sentence in SENTENCES)


async def _scored(world: World, sentences: list[str]):
    scorer = EndpointScorer(SubjectSettings(base_url=world.base_url, model="m"))
    try:
        return await scorer.log_likelihoods(sentences)
    finally:
        await scorer.close()


async def test_an_endpoint_tells_them_and_what_it_adds_does_not_count():
    sentences = ["tool-3 and room-4", "tool-9"]
    with World(tools=1, rooms=1) as world:
        found, usage = await _scored(world, sentences)
        (request,) = world.requests
    assert found == pytest.approx(list(map(log_likelihood, sentences)))
    assert (usage.calls, usage.prompt_tokens) == (1, 7)
    assert request.body["echo"] is True


async def test_llama_cpp_which_ignores_echo_is_made_to_write_the_sentence_token_by_token():
    sentences = ["tool-3 and room-4", "tool-9 alone"]
    with World(tools=1, rooms=1) as world:
        world.echoes = False
        found, usage = await _scored(world, sentences)
        forced = [request.body for request in world.requests if "grammar" in request.body]
        paths = [request.path for request in world.requests]
    assert found == pytest.approx(list(map(log_likelihood, sentences)))
    assert [one["max_tokens"] for one in forced] == [2, 1]
    assert all(one["logprobs"] == 1 for one in forced)
    assert paths.count("/tokenize") == 2
    assert (usage.calls, usage.completion_tokens) == (3, 4)


@pytest.mark.parametrize(
    ("act", "error", "told"),
    [
        (status(503, "busy"), ModelUnavailable, {"misconfigured": False}),
        (status(429, "slow down"), ModelUnavailable, {"misconfigured": False}),
        (status(401, "who are you"), ModelUnavailable, {"misconfigured": True}),
        (status(400, "echo is not supported"), ModelFailed, {"cause": "judge_unusable"}),
        (Act(kind="close", delay=0), ModelUnavailable, {"misconfigured": False}),
        (Act(document={"choices": [{"index": 0, "text": "x"}]}), ModelFailed, {"cause": "judge_unusable"}),
        (Act(document={"choices": []}), ModelFailed, {"cause": "judge_unusable"}),
        (Act(document={"error": "no such route"}), ModelFailed, {"cause": "judge_unusable"}),
        (page(200, b"<html>a login page</html>"), ModelFailed, {"cause": "judge_unusable"}),
        (page(200, b'{"choices": [', "application/json"), ModelFailed, {"cause": "judge_unusable"}),
    ],
)
async def test_an_endpoint_that_gives_none_is_away_or_of_no_use(act: Act, error: type[Exception], told: dict):
    with World(tools=1, rooms=1) as world:
        world.play(lambda request: act)
        with pytest.raises(error) as raised:
            await _scored(world, ["a sentence"])
    assert {name: getattr(raised.value, name) for name in told} == told
