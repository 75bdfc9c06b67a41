"""When a message is given up that is tried again and again."""

from streams.patience import Patience


def test_a_message_is_given_up_only_while_others_are_taken():
    patience = Patience(0)
    assert not any(patience.ends(taken=7) for _ in range(100))
    assert [patience.ends(taken) for taken in (8, 8, 9, 9, 10)] == [False, False, False, False, True]


def test_a_message_is_given_up_only_after_the_configured_time():
    patience = Patience(3600)
    assert not any(patience.ends(taken) for taken in range(100))
