"""No deadlines on single examples: a busy machine is no fault of the code."""

from hypothesis import settings

settings.register_profile("assay", deadline=None, max_examples=50)
settings.load_profile("assay")
