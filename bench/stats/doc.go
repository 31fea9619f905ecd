// Package stats summarizes measurements without assuming a distribution: the
// median, an interval that holds it, and whether two sets differ.
package stats
