// A record to assay with segmentio/kafka-go: go run .
package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"log"
	"os"
	"time"

	"github.com/segmentio/kafka-go"
)

func setting(name, otherwise string) string {
	if value := os.Getenv(name); value != "" {
		return value
	}
	return otherwise
}

func main() {
	writer := &kafka.Writer{
		Addr:         kafka.TCP(setting("BOOTSTRAP_SERVERS", "localhost:9092")),
		Topic:        setting("TOPIC", "assay.outputs"),
		RequiredAcks: kafka.RequireAll,
		Balancer:     &kafka.Murmur2Balancer{}, // as Java's
		Compression:  kafka.Lz4,
		BatchTimeout: 20 * time.Millisecond,
	}
	record := map[string]any{
		"id":          rand.Text(),
		"kind":        "generation",
		"source":      "support-bot",
		"model":       "acme-chat-4",
		"session":     "chat-81",
		"occurred_at": time.Now().UTC(),
		"prompt":      "When does my order arrive?",
		"response":    "It arrives on Wednesday before noon.",
		"contexts":    []string{"Delivery is planned for Thursday 19 November before noon."},
	}
	value, err := json.Marshal(record)
	if err != nil {
		log.Fatal(err)
	}
	// kafka-go has no idempotence: a record that it sends twice has the same id, and gets the same verdict.
	if err := writer.WriteMessages(context.Background(), kafka.Message{Key: []byte("chat-81"), Value: value}); err != nil {
		log.Fatalf("the record was not delivered: %v", err)
	}
	if err := writer.Close(); err != nil {
		log.Fatal(err)
	}
}
