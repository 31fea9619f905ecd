// Package script measures Code Mode: an engine per batch, and a batch of a
// hundred calls with all that a call does (records, syncs, activities).
package script
