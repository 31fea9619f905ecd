// Package turn is one run on the wire: it checks the attachment, lets the
// runner run, turns its events into run events, and settles how the run ended
// (runner.md 17-23).
//
// It owns the UUIDs of messages and activities and the rule that every
// reconciliation tells the client something. It knows neither frames nor
// sequence numbers: events go into an event.Queue, the connection takes them.
package turn
