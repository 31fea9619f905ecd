// Package turn measures whole turns and pages of a history: a server in the benchmark's process over
// real pipes, a scripted model on a loopback port, a real file system
// (telemetry.md 13.5). A test holds the share of telemetry that is off.
package turn
