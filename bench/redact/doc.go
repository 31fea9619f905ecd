// Package redact measures how fast secrets are hidden (decision 41). It holds
// benchmarks only.
//
// BenchmarkRedact puts the product's redactor beside the plain form of the
// seven rules as regular expressions, in one run and on the same texts.
package redact
