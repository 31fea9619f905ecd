// Package web is the tool web (tools.md 1.16): it opens a page as text, and
// searches by the Exa service or by what the run's provider offers.
//
// A page is fetched from public addresses only. Its host is resolved once, every
// address must be public, and the connection goes to one of them: what the name
// means a moment later does not matter. No proxy, no redirect, no cookie; sizes
// and times are bounded, also those of what was compressed. HTML becomes
// Markdown by one pass over its tokens, without a tree that a page could make
// deep or large.
package web
