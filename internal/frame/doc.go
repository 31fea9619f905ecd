// Package frame moves frames between bytes and the two inherited pipes: Reader
// cuts input at LF and keeps its bound, and the output side queues whole frames
// under their absolute deadlines. Nothing else writes to stdout.
//
// It knows no JSON: what is in a frame is for package admission, what goes into
// one for package server.
package frame
