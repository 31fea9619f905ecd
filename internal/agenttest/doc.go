// Package agenttest has what tests of whole agents share: a model that follows a
// script, a home that selects it, and any frame of the wire.
package agenttest
