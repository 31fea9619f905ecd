package injection

import "magicode/internal/jsonscan"

// Recorded is what a record of a session says of the judgement of a result, read
// back (storage.md 6.4): its prompt_injection_protection. The zero value is a
// judgement that is not there.
type Recorded struct{ v jsonscan.Value }

// RecordedIn returns the judgement in a result's metadata or in the payload of an
// assessment.
func RecordedIn(parent jsonscan.Value) Recorded {
	return Recorded{parent.Get("prompt_injection_protection")}
}

// ResultID pairs a result with the assessment that follows it; "" in some records
// of other programs.
func (r Recorded) ResultID() string { return r.v.Get("result_id").LenientText() }

// Enforced reports whether it decides what the model sees.
func (r Recorded) Enforced() bool {
	on, _ := r.v.Get("enforced").Bool()
	return on
}

// Pending reports whether it decides, in an assessment that is still to come.
func (r Recorded) Pending() bool { return r.Enforced() && r.v.Get("action").Is("pending") }

// Project is what a model sees of content, the text as it is stored. An enforced
// judgement has to show it, to be of this text and to have looked at all of it. cut
// shortens what is shown; evidence is as in the function of this name.
func (r Recorded) Project(content, evidence string, cut func(string) string) string {
	if !r.Enforced() {
		return cut(content)
	}
	action := Action(r.v.Get("action").LenientText())
	if !action.Shown() || !r.looked(action) || !r.isOf(content) {
		return Project(Quarantine, "", evidence)
	}
	return Project(action, cut(content), evidence)
}

// looked reports whether the assessment saw all of its text, so that its action
// counts. One that failed saw nothing: that the text is marked is what the settings
// say for this case.
func (r Recorded) looked(a Action) bool {
	if a == Annotate && r.v.Get("failure").LenientText() != "" {
		return true
	}
	all, ok := r.v.Get("original_bytes").Uint64()
	n, is := r.v.Get("assessed_bytes").Uint64()
	return ok && is && n == all
}

// isOf reports whether the assessment is of the text that is stored.
func (r Recorded) isOf(content string) bool {
	size, sum := r.v.Get("original_bytes"), r.v.Get("sha256")
	if kept := r.v.Get("persisted_content"); kept.Kind() == jsonscan.Object {
		size, sum = kept.Get("bytes"), kept.Get("sha256")
	}
	n, ok := size.Uint64()
	return ok && n == uint64(len(content)) && sum.Is(hash(content))
}
