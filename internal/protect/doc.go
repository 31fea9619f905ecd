// Package protect judges shell commands without a network: it parses them with
// a shell parser and scores five dimensions of risk (tools.md 7.2, decisions 5
// and 6). It decides nothing by itself: a Level turns scores into a question.
//
// The judgement is pure. What only a run can tell (what a variable of the
// environment, a file or a program's output holds) is carried along as a mark
// inside the text of words; a command word or a script with a mark in it has
// not been seen through, and gets no confidence. What the text does tell is
// followed: variables with every value they may take, folders a cd may lead to,
// links, files written and then run, scripts inside arguments and pipes.
package protect
