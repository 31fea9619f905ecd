// Package ledger keeps what edits replaced, so that a rewind can bring it back:
// the checkpoint ledger of storage.md 5.9. One record per edited file says what
// was there before and after; the contents lie beside as blobs, named by their
// hash.
//
// It owns checkpoints/ in the home, which the released program shares: the same
// lock files, blobs before their record, records in order. It only writes.
// Rewinding, and removing what a deleted session leaves, is not done here.
//
// An edit stands whether it could be recorded or not. What could not be is told
// to the function that a Recorder was made with, in words without paths.
package ledger
