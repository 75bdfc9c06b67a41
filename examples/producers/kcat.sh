#!/bin/sh
# A record to assay with kcat, from a shell: the key before the tab, the record behind it.
printf 'chat-81\t{"id": "%s", "kind": "generation", "source": "support-bot", "model": "acme-chat-4", "session": "chat-81", "response": "It arrives on Wednesday before noon.", "contexts": ["Delivery is planned for Thursday 19 November before noon."]}\n' \
    "$(cat /proc/sys/kernel/random/uuid)" |
    kcat -P -b "${BOOTSTRAP_SERVERS:-localhost:9092}" -t "${TOPIC:-assay.outputs}" -K '\t' \
        -X enable.idempotence=true -X compression.type=lz4
