// Package catalog reads and fetches the cached model catalogs (storage.md 10,
// providers.md 18): which models a provider has, their context windows, and the
// thinking levels that may be chosen.
//
// Reading is all that a serving child does. A catalog that is missing, damaged,
// of another provider or made under other settings is no catalog; nothing is
// reported, because a cache is never the user's doing. Fetching is for commands
// that the user gave: the provider's own list, completed by the public facts of
// models.dev, replaces the file in one step or leaves it as it was.
package catalog
