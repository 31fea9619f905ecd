// Package injection judges results of tools before the model sees them: do they
// hold instructions that are not the user's (tools.md 7.4)?
//
// A Screen asks two likelihoods and an impact of a judge.Assessor: the remote
// service, or Local, which knows the wordings that such text is known to use. A
// Level turns the figures into an Action. Only with enforcement does an Action
// change what the model is shown; Project says how, for the running turn and
// for every replay alike. What is stored is always the raw result.
package injection
