// Package jsonscan is the strict JSON scanner of the hot paths: frames,
// session lines and provider events (decision 40).
//
// Parse accepts exactly one value of RFC 8259 JSON in valid UTF-8 and gives
// back its bytes; Value walks them in place. ReadObject does both at once for
// an object's own members. Nothing is decoded before it is asked for, nothing
// is copied, and neither scanning nor walking allocates or recurses: what a
// peer sends decides no stack depth and no memory.
//
// The package knows no protocol. Which fields there must be, and what a
// repeated one means, is its callers' business.
package jsonscan
