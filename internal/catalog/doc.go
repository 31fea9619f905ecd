// Package catalog reads the cached model catalogs that the terminal front end
// fetches (storage.md 10, providers.md 18): which models a provider has, their
// context windows, and the thinking levels that may be chosen.
//
// It only reads. A catalog that is missing, damaged, of another provider or
// made under other settings is no catalog; nothing is reported, because a cache
// is never the user's doing.
package catalog
