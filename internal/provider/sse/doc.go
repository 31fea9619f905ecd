// Package sse takes server-sent events apart as their bytes arrive
// (providers.md 10): any split of the stream into reads gives the same events.
//
// Only the text of data lines is handed on; event names, ids, retry hints and
// comments are ignored, because the JSON of an event names its own type. What
// an event means is its reader's business.
package sse
