// Package provider measures the hot paths of the model providers: taking a
// stream of deltas apart, from bytes to neutral events, and putting the body of
// a request together. Nothing but its benchmarks is in it.
package provider
