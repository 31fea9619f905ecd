// Package otlptest holds collectors for tests: they take OTLP over HTTP and over
// gRPC with the official types and the official server, and endpoints that
// answer in every wrong way. Only tests import it.
package otlptest
