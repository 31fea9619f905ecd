package config

// Protection is a level of the approval assessor, from loose to strict.
type Protection string

// Protection levels. ProtectionOff asks for nothing.
const (
	ProtectionOff        Protection = "off"
	ProtectionPermissive Protection = "permissive"
	ProtectionRelaxed    Protection = "relaxed"
	ProtectionBalanced   Protection = "balanced"
	ProtectionCautious   Protection = "cautious"
	ProtectionStrict     Protection = "strict"
)

var protections = [...]Protection{
	ProtectionOff, ProtectionPermissive, ProtectionRelaxed, ProtectionBalanced, ProtectionCautious, ProtectionStrict,
}

// rank orders levels by strictness.
func (p Protection) rank() int {
	for i, q := range protections {
		if p == q {
			return i
		}
	}
	return len(protections) // unknown: nothing is stricter
}

// FailurePolicy says what a failed judgement means.
type FailurePolicy string

// Failure policies of the several protections.
const (
	AutoApprove FailurePolicy = "auto_approve"
	AutoDeny    FailurePolicy = "auto_deny"
	Annotate    FailurePolicy = "annotate"
	Quarantine  FailurePolicy = "quarantine"
	AcceptWarn  FailurePolicy = "accept_with_warning"
	RejectWarn  FailurePolicy = "reject_with_warning"
)

// Approvals is what the approval assessor runs with, after decision 5: the
// only place to read it from. A project has only been able to make it stricter.
type Approvals struct {
	Level         Protection
	FailurePolicy FailurePolicy // of the remote judgement: AutoApprove or AutoDeny
	Remote        bool          // ask the remote judgement first; TYPESAFE_API_KEY is set
}

// Jev is internal_tooling.jev. For approvals read Capabilities.Approvals.
type Jev struct {
	Enabled         bool
	DebugMessages   bool
	BashProtection  BashProtection
	FileTracking    bool // bash_file_tracking.enabled
	Humanize        Humanize
	Injection       InjectionProtection
	Completion      CompletionVerification
	SkillSuggestion SkillSuggestion
	Compaction      CompactionTiming
}

// BashProtection is internal_tooling.jev.bash_protection.
type BashProtection struct {
	Enabled bool
	Level   Protection
	Policy  FailurePolicy
}

// Humanize is internal_tooling.jev.humanize_protection.
type Humanize struct {
	Enabled            bool
	ContentThreshold   float64
	HumanizedThreshold float64
	Policy             FailurePolicy
}

// InjectionProtection is internal_tooling.jev.prompt_injection_protection. A
// project has only been able to make it stricter.
type InjectionProtection struct {
	Active bool // it is enabled, and so is internal_tooling.jev
	Remote bool // ask the remote judgement; TYPESAFE_API_KEY is set

	Enabled          bool
	Enforcement      bool
	Level            Protection
	MaxAssessedBytes int
	Policy           FailurePolicy
	Tools            []string
}

// CompletionVerification is internal_tooling.jev.completion_verification.
type CompletionVerification struct {
	Enabled          bool
	Enforcement      bool
	Threshold        float64
	MaxStateBytes    int
	MaxContinuations int
	Policy           FailurePolicy
}

// SkillSuggestion is internal_tooling.jev.skill_suggestion.
type SkillSuggestion struct {
	Enabled       bool
	GateThreshold float64
	FitThreshold  float64
}

// CompactionTiming is internal_tooling.jev.compaction_timing.
type CompactionTiming struct {
	Enabled              bool
	SoftThresholdPercent int
	Threshold            float64
}
