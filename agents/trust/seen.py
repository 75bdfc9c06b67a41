"""Which verdicts were counted: the latest ids, so that one delivered twice counts once."""

from collections import OrderedDict


class Seen:
    """The last `size` ids; an id that comes again is as young as its repeat."""

    def __init__(self, size: int) -> None:
        self._size = size
        # A plain dict finds its oldest member by walking over the places of all that were deleted.
        self._ids: OrderedDict[str, None] = OrderedDict()

    def __contains__(self, id_: str) -> bool:
        return id_ in self._ids

    def __len__(self) -> int:
        return len(self._ids)

    def add(self, id_: str) -> bool:
        """Remember an id; whether it was known."""
        known = id_ in self._ids
        self._ids[id_] = None
        if known:
            self._ids.move_to_end(id_)
        elif len(self._ids) > self._size:
            self._ids.popitem(last=False)
        return known
