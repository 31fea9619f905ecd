package agenttest

import "time"

// Patience is how long anything of a child may take.
const Patience = 20 * time.Second

// Frame is any frame of ours, as a test looks at it.
type Frame struct {
	ID    *string        `json:"id"`
	Seq   int            `json:"seq"`
	Type  string         `json:"type"`
	Event string         `json:"event"`
	Data  map[string]any `json:"data"`
	Res   map[string]any `json:"result"`
	Error *struct {
		Code string `json:"code"`
	} `json:"error"`
	Raw string // the line
}
