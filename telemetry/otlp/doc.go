// Package otlp sends spans and metrics to one OpenTelemetry endpoint that the
// user has named, as protobuf over HTTP or over gRPC (telemetry.md 9).
//
// It is built so that no endpoint can hurt. What is handed over goes into bounded
// queues, and what does not fit is dropped and counted; nobody waits. A request
// has one attempt, a time, a bound for what is read of the answer, and follows no
// redirect. After three failures in a row nothing is sent for a while. Of an
// error only its class is kept: texts hold URLs and whatever the other side says.
//
// The requests are made here and not by OpenTelemetry's exporters, which bring
// gRPC's own client, generated types for every message and readers of variables
// that must not count (docs/decisions/0006-otlp.md). Tests hold the bytes against
// the official types and the official gRPC server.
package otlp
