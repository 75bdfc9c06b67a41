import java.time.Instant;
import java.util.Properties;
import java.util.UUID;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.StringSerializer;

/** A record to assay with Apache Kafka's own client: org.apache.kafka:kafka-clients, 3.0 or later. */
public class RecordProducer {
    public static void main(String[] arguments) {
        Properties settings = new Properties();
        settings.put("bootstrap.servers", System.getenv().getOrDefault("BOOTSTRAP_SERVERS", "localhost:9092"));
        settings.put("compression.type", "lz4");
        settings.put("linger.ms", "20");
        // acks=all and enable.idempotence=true are its defaults.
        String id = UUID.randomUUID().toString();
        String session = "chat-81";
        // Use a JSON library for texts of others.
        String record = """
            {"id": "%s", "kind": "generation", "source": "support-bot", "model": "acme-chat-4",
             "session": "%s", "occurred_at": "%s",
             "prompt": "When does my order arrive?",
             "response": "It arrives on Wednesday before noon.",
             "contexts": ["Delivery is planned for Thursday 19 November before noon."]}
            """.formatted(id, session, Instant.now());
        String topic = System.getenv().getOrDefault("TOPIC", "assay.outputs");
        // A string as it is: serializers of a Schema Registry put bytes of their own before it.
        try (var producer = new KafkaProducer<>(settings, new StringSerializer(), new StringSerializer())) {
            producer.send(new ProducerRecord<>(topic, session, record), (metadata, error) -> {
                if (error != null) {
                    System.err.println("the record was not delivered: " + error);
                }
            });
        }
    }
}
