"""Stanford CoreNLP as a process of its own: fetched from Maven Central by the user's command, never bundled (GPL)."""
