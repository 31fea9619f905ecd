// Package replay turns stored records back into the conversation that a model
// is sent (storage.md 6.6, runner.md 25).
//
// A Fold follows a session handle: it is fed the whole file once, at the first
// turn, and every appended record after that, so that a later turn costs what
// its own records cost. It keeps items, not records; tool outputs are shortened
// as they come in. Of other files it reads only the ends of tasks' logs, for the
// note on a turn that was stopped over them, and only when it is asked for the
// conversation. It is not safe for concurrent use: the handle calls it from
// one goroutine at a time, and the runner reads it between appends.
package replay
