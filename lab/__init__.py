"""Work over files, never on the stream: audits, corpora, labelling runs. Nothing imports it.

Everywhere here, CannotRun tells what is wrong with what a user gave, NotFinished that a store or an endpoint is not
there or refused, ModelLost and ModelFailed what they tell of a model.
"""
