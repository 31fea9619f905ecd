// Package inventory looks after the sessions of a home taken together
// (storage.md 5.1, 5.2, 9): what there is and who uses it, deleting what is old,
// and setting file modes right. One session's records are package session's.
//
// To list changes nothing but sidecars, which are a cache. To delete happens in
// two steps: Survey tells what would go, Delete does it to exactly that, and
// leaves out whatever is in use or has changed since.
package inventory
