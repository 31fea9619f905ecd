// Package redacttest serves tests and benchmarks of package redact: the seven
// rules of the reference as regular expressions, texts with and without
// secrets, and made-up keys of the published formats.
//
// No product code imports it. Keys are put together at run time, so that no
// source file holds anything that looks like one.
package redacttest
