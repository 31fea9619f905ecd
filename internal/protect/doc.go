// Package protect judges shell commands without a network: it parses them with
// a shell parser and scores five dimensions of risk (tools.md 7.2, decisions 5
// and 6). It decides nothing by itself: a Level turns scores into a question.
package protect
