"""The low-water mark: nothing is acknowledged before what stands in front of it."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streams.ack_window import AckWindow, Position


@given(st.permutations(range(12)))
def test_whatever_the_order_of_finishing_the_acknowledged_are_a_prefix(order):
    async def run():
        window = AckWindow(12)
        places = [await window.enter(Position("p", 1, offset)) for offset in range(12)]
        acknowledged: list[int] = []
        finished = set()
        for offset in order:
            finished.add(offset)
            acknowledged += [message.offset for message in window.finish(places[offset])]
            low_water = next((each for each in range(12) if each not in finished), 12)
            assert acknowledged == list(range(low_water))
        assert len(window) == 0

    asyncio.run(run())


@given(st.data())
def test_what_is_passed_over_is_acknowledged_with_what_it_stands_behind(data):
    passed_over = data.draw(st.lists(st.booleans(), min_size=1, max_size=14))
    order = data.draw(st.permutations([offset for offset, passed in enumerate(passed_over) if not passed]))

    async def run():
        window = AckWindow(14)
        places, low = {}, 0
        for offset, passed in enumerate(passed_over):
            message = Position("p", 1, offset)
            if not passed:
                places[offset] = await window.enter(message)
            elif window.pass_over(message):
                low = offset + 1
        for finished, offset in enumerate(order):
            unfinished = [len(passed_over), *order[finished + 1 :]]
            for message in window.finish(places[offset]):
                assert message.offset >= low
                low = message.offset + 1
            assert low == min(unfinished)

    asyncio.run(run())


async def test_a_full_window_waits_for_its_oldest():
    window = AckWindow(2)
    first = await window.enter(Position("p", 1, 0))
    second = await window.enter(Position("p", 1, 1))
    entering = asyncio.create_task(window.enter(Position("p", 1, 2)))
    assert list(window.finish(second)) == []
    await asyncio.sleep(0)
    assert not entering.done()
    assert [message.offset for message in window.finish(first)] == [0, 1]
    await entering


@pytest.mark.parametrize("generation", [1, 2])
async def test_what_finishes_after_its_partition_was_handed_over_acknowledges_nothing(generation):
    window = AckWindow(5)
    old = await window.enter(Position("p", 1, 3))
    window.clear()
    new = await window.enter(Position("p", generation, 3))
    assert list(window.finish(old)) == []
    assert list(window.finish(new)) == [new.position]
