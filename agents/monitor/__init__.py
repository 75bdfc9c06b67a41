"""The trust monitor: it raises an alert as soon as there is proof that a subject's success rate dropped."""
