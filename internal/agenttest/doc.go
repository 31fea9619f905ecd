// Package agenttest has what tests of whole agents share: a model that follows a
// script, a home that selects it, any frame of the wire, and how long anything of
// a child may take.
package agenttest
