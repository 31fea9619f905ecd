// Package body builds request bodies: compact JSON, put together from small
// pieces of its own and from pieces that are kept between requests, without
// copying the latter.
//
// It knows no API. The order and the names of keys are its callers' business;
// they write them sorted, so that equal requests are equal bytes and prompt
// caches stay warm (providers.md 7.1).
package body
