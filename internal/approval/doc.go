// Package approval asks the user before a protected command runs.
//
// A Broker holds one question at a time and a queue behind it; the first valid
// answer wins, and expiry, cancellation and disconnect deny (protocol, "Turns,
// approvals and events"; decision 7). A Guard is what the runner consults: it
// assesses the command and puts the question where the level says so. The two
// are separate so that other front ends ask in their own way.
package approval
