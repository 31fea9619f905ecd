// Package demo runs one full turn through a real serve child, with a small
// scripted model on a loopback port of this (the host's) process: text, a tool,
// an approval, history. It needs no key, no network and no terminal, and uses a
// temporary home that it removes (decisions 3 and 4).
//
// What it prints is made from the frames that arrived, by the rules that the
// protocol lays on a client (pkg/client); nothing is written down beforehand.
package demo
