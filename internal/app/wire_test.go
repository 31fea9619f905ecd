package app

import "time"

// patience is how long anything of a child may take.
const patience = 20 * time.Second

// wireFrame is any frame of ours, as a test looks at it.
type wireFrame struct {
	ID    *string        `json:"id"`
	Seq   int            `json:"seq"`
	Type  string         `json:"type"`
	Event string         `json:"event"`
	Data  map[string]any `json:"data"`
	Res   map[string]any `json:"result"`
	Error *struct {
		Code string `json:"code"`
	} `json:"error"`
	raw string
}
