// Package subagent is the tool "subagents": tasks that run as nested turns, in
// sessions of their own, side by side (tools.md 5).
//
// A task is runner.Run with a configuration that the consumer makes (Open). This
// package schedules tasks, shows them as activities below the call's own,
// watches for those that stall, asks again when an answer does not fit its
// schema or the provider failed, sums up what was spent and tells the parent
// what came of it. A task's text never reaches the parent's sink.
//
// What ends one task is told to the model. Three things end the whole run: an
// approval that was denied or expired (decision 7), an event that the parent's
// sink could not take, and the run's limit of activities.
package subagent
