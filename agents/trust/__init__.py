"""Trust in a deployed model: whether its success rate dropped, told as soon as there is proof."""
