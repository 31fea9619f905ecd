// Package script runs Code Mode (tools.md 3): a JavaScript function body that
// may call the tools of an inner surface and gives one value back.
//
// The engine is QuickJS without cgo, made anew for every batch and only when a
// batch comes. A script sees ECMAScript and the frozen global tools, nothing of
// the host. It runs on a goroutine of its own; every call that it makes is
// carried out by the goroutine that called Run, while the script's clock
// stands. Limits and failures of the host end a script where it stands: no
// catch or finally of it runs.
//
// Some loops inside the engine's own built-ins do not look at the interrupt
// (indexOf over a sparse array of billions). The usual ones refuse such lengths;
// a script that gets into one all the same is abandoned: its batch ends in
// time, its goroutine when the loop does.
package script
