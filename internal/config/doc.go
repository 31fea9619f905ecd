// Package config owns the home directory's non-secret configuration: where
// MC_HOME is and what stands in it, settings.json of the home and of the exact
// working directory, the environment's part in them, and the definitions of
// .mcp.json.
//
// One table (keys.go and its neighbours) says of every settings key its path,
// type, default, rule and whether a project may set it. Validation, the typed
// Settings and the JSON Schema all come from it.
//
// Layers: defaults < global file < project file, without what a project may
// not say < environment. A project can only make approvals stricter, whichever
// key it uses (decision 5).
//
// The package connects to nothing, starts nothing and reads no variable except
// through the lookup it is given. Credentials are package auth's; what the
// settings select (profiles, providers, servers) is resolved by package
// startup.
package config
