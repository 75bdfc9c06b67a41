"""An application that knows nothing of tracing: opentelemetry-instrument traces it from outside."""

from openai import OpenAI

answer = OpenAI().chat.completions.create(
    model="gpt-4o-mini", messages=[{"role": "user", "content": "Do you deliver on Sundays?"}]
)
print(answer.choices[0].message.content)
