// Package reader makes sense of a capture: it parses its lines, however damaged,
// and says what was stuck, since when and in which phase (telemetry.md 11). Its
// functions are pure; who opens files and prints is somebody else.
//
// A capture may come from a stranger: lines, records and text are bounded, and
// Escape is for everything that is shown.
package reader
