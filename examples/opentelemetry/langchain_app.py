"""A LangChain application, traced by OpenInference: retrieved documents come with their texts."""

from langchain_core.documents import Document
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.vectorstores import InMemoryVectorStore
from langchain_openai import ChatOpenAI
from openinference.instrumentation.langchain import LangChainInstrumentor
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

provider = TracerProvider()
provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
LangChainInstrumentor().instrument(tracer_provider=provider)

store = InMemoryVectorStore(DeterministicFakeEmbedding(size=32))
store.add_documents([Document("We deliver from Monday to Saturday.")])
question = "Do you deliver on Sundays?"

with provider.get_tracer("garden-centre").start_as_current_span("answer"):
    found = store.as_retriever().invoke(question)
    passages = "\n".join(document.page_content for document in found)
    print(ChatOpenAI(model="gpt-4o-mini").invoke([("system", passages), ("user", question)]).content)

provider.shutdown()
