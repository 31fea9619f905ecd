package startup

import "errors"

// Sentinels, one for each code that a failed start can have. They wrap the cause.
var (
	ErrConfiguration = errors.New("configuration invalid")
	ErrProvider      = errors.New("provider unavailable")
	ErrProfile       = errors.New("profile invalid")
	ErrMCP           = errors.New("MCP unavailable")
)

// Stage says how far a start came.
type Stage string

// Stages, in their order.
const (
	StageSettings     Stage = "settings"
	StageAuth         Stage = "auth"
	StageInstructions Stage = "instructions"
	StageSkills       Stage = "skills"
	StageProfiles     Stage = "profiles"
	StageMCP          Stage = "mcp"
	StageReadiness    Stage = "readiness"
)

// failure is an error with its sentinel and stage.
type failure struct {
	sentinel error
	stage    Stage
	cause    error
}

func (f *failure) Error() string {
	return string(f.stage) + ": " + f.cause.Error()
}

// Unwrap gives the sentinel and the cause.
func (f *failure) Unwrap() []error { return []error{f.sentinel, f.cause} }

func fail(sentinel error, stage Stage, cause error) error {
	return &failure{sentinel: sentinel, stage: stage, cause: cause}
}
