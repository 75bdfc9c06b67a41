"""Texts that resemble one another are grouped; figures and the order of texts do not matter."""

from hypothesis import given
from hypothesis import strategies as st

from store.similar import grouped

FAULTS = [
    "“Refunds are paid within {} days.” The source says that they take a month.",
    "“Delivery to {} costs 5 euros.” '5' is not in “Delivery to {} costs 6 euros.”",
    "“The basic plan for {} includes a phone line.” No passage says it.",
    "退款将在 {} 天内支付给客户，但来源说需要一个月的时间。",
]
FILLED = ["7", "21", "Ghent", "Brno", "Graz", "300"]


def test_sentences_with_the_same_fault_are_one_group_in_any_language():
    texts = [fault.format(word, word) for fault in FAULTS for word in FILLED]
    assert grouped(texts) == [list(range(at, at + 6)) for at in range(0, 24, 6)]


@given(st.lists(st.text(max_size=80) | st.sampled_from(FAULTS), max_size=30))
def test_each_text_is_in_one_group_and_equal_ones_are_together(texts):
    groups = grouped(texts)
    assert sorted(place for group in groups for place in group) == list(range(len(texts)))
    assert [len(group) for group in groups] == sorted((len(group) for group in groups), reverse=True)
    of = {place: number for number, group in enumerate(groups) for place in group}
    assert all(of[a] == of[b] for a in range(len(texts)) for b in range(a) if texts[a] == texts[b])
