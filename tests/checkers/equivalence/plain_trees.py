"""Trees for tests, in brackets."""

import re

from checkers.equivalence.trees import Node, Tree

_WRITTEN = {"-LRB-": "(", "-RRB-": ")", "``": '"', "''": '"'}


def tree_of(brackets: str, sentence: str | None = None) -> Tree:
    """A tree over `sentence`, or over its tokens with blanks between."""
    tokens = tuple(_WRITTEN.get(word, word) for word in re.findall(r"\([^ ()]* ([^ ()]+)\)", brackets))
    sentence = " ".join(tokens) if sentence is None else sentence
    starts: list[int] = []
    place = 0
    for token in tokens:
        place = sentence.index(token, place)
        starts.append(place)
        place += len(token)
    return Tree(sentence, tokens, tuple(starts), _root(brackets))


def _root(brackets: str) -> Node:
    opened: list[tuple[str, int, list[Node]]] = [("", 0, [])]
    count = 0
    for label, mark in re.findall(r"\(([^ ()]*)|([^ ()]+|\))", brackets):
        if mark == ")":
            name, start, children = opened.pop()
            opened[-1][2].append(Node(start, count, name, tuple(children)))
        elif mark:
            count += 1
        else:
            opened.append((label, count, []))
    return opened[0][2][0]


def in_brackets(tree: Tree) -> str:
    """A tree on one line."""

    def written(node: Node) -> str:
        inner = " ".join(map(written, node.children)) or tree.tokens[node.start]
        return f"({node.label} {inner})"

    return written(tree.root)
