// Package checkpoint collects what a compaction carries over from the records
// that it replaces (storage.md 6.4 "compaction", runner.md 27.7): the aggregate,
// token totals, evidence of what was executed, the last preference, the task
// scope. Only recorded results count, never the model's own text.
package checkpoint
