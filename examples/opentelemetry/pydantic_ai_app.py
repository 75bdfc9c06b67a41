"""An agent of Pydantic AI, which traces itself: what its tools answered is what its answer is checked against."""

from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from pydantic_ai import Agent
from pydantic_ai.models.openai import OpenAIChatModel

provider = TracerProvider()
provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
trace.set_tracer_provider(provider)
Agent.instrument_all()

agent = Agent(OpenAIChatModel("gpt-4o-mini"), instructions="Answer from what the tool says.")


@agent.tool_plain
def delivery_days() -> str:
    """The days on which the garden centre delivers."""
    return "We deliver from Monday to Saturday."


print(agent.run_sync("Do you deliver on Sundays?").output)

provider.shutdown()
