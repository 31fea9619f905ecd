// Package claude is the provider claude-subscription: one generation is one
// process of the user's own claude command, which owns the login, and which may
// make exactly one model request, through a relay on a loopback port that lives
// as long as the generation (providers.md 15, decision 36). No tool runs inside
// the command, and nothing of its credentials is kept.
//
// The answer is judged whole: only when the command, its exit and the bytes of
// the model's response agree are the events delivered, all at once. There is no
// live text with this provider, and nothing is tried twice.
package claude
