// Package ignore decides which files of a workspace are left out of searches,
// and walks what remains: git's rules as `git check-ignore` applies them
// (.gitignore of every directory, .git/info/exclude, core.excludesFile), .ignore
// files with the same syntax and a higher rank, and no hidden entries, links or
// directories called "target" (tools.md 1.6).
//
// Patterns are matched by an own matcher: libraries differ from git in brace
// lists, bracket expressions, escapes and "**" after literal text.
//
// Without a repository, .gitignore files count from the top of the walk down.
package ignore
