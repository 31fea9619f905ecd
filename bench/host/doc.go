// Package host is the plainest host there is, for drivers and benchmarks: it
// writes frames into one pipe and reads lines from another, checks nothing and
// decodes nothing, so that what it measures is the child. Programs that want
// the protocol kept use pkg/client.
package host
