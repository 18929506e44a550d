// Publishes prepared messages by nats.go's PublishMsgAsync and prints how long that took.
//
// Usage: natsgo URL STREAM SUBJECT WINDOW MESSAGES
package main

import (
	"encoding/binary"
	"encoding/json"
	"log"
	"os"
	"strconv"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

func main() {
	url, stream, subject, path := os.Args[1], os.Args[2], os.Args[3], os.Args[5]
	window, err := strconv.Atoi(os.Args[4])
	check(err)
	messages := read(path, subject, stream)

	nc, err := nats.Connect(url)
	check(err)
	defer nc.Close()
	var failed atomic.Int64
	js, err := jetstream.New(nc,
		jetstream.WithPublishAsyncMaxPending(window),
		jetstream.WithPublishAsyncErrHandler(func(jetstream.JetStream, *nats.Msg, error) { failed.Add(1) }),
	)
	check(err)

	cpu, start := cpuTime(), time.Now()
	for _, message := range messages {
		if _, err := js.PublishMsgAsync(message, jetstream.WithStallWait(10*time.Second)); err != nil {
			log.Fatal(err)
		}
	}
	<-js.PublishAsyncComplete()
	seconds := time.Since(start).Seconds()
	if failed.Load() > 0 {
		log.Fatalf("%d messages failed", failed.Load())
	}
	check(json.NewEncoder(os.Stdout).Encode(map[string]any{
		"count": len(messages), "seconds": seconds, "cpu": (cpuTime() - cpu).Microseconds(),
	}))
}

// read makes the messages: two counts (messages, and whether they have ids), lengths, bodies, ids.
func read(path, subject, stream string) []*nats.Msg {
	data, err := os.ReadFile(path)
	check(err)
	count := int(binary.LittleEndian.Uint32(data))
	withIDs := binary.LittleEndian.Uint32(data[4:]) == 1
	lengths, bodies := data[8:], data[8+4*count:]
	ids := data[len(data)-64*count:]
	messages := make([]*nats.Msg, count)
	for i := range messages {
		size := binary.LittleEndian.Uint32(lengths[4*i:])
		message := nats.NewMsg(subject)
		message.Data, bodies = bodies[:size:size], bodies[size:]
		message.Header["Content-Type"] = []string{"application/json"}
		message.Header["Filament-Operation"] = []string{"insert"}
		message.Header["Nats-Expected-Stream"] = []string{stream}
		if withIDs {
			message.Header["Nats-Msg-Id"] = []string{string(ids[64*i : 64*i+64])}
		}
		messages[i] = message
	}
	return messages
}

func cpuTime() time.Duration {
	var usage syscall.Rusage
	check(syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
