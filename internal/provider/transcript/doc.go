// Package transcript makes a conversation ready to be sent: it takes items
// apart into parts that every wire knows, drops duplicates, and puts tool
// results where the APIs want them (providers.md 6 and 11.2).
//
// The form that a wire gives to a part is kept with its item, so that a long
// conversation is serialized once and not with every request. How a part looks
// on a wire is that wire's business.
package transcript
