// Package fdio reads and writes descriptors that do not block.
//
// The standard library tells the scheduler before each system call that a
// thread may be gone for long. In a process that was idle this wakes the
// runtime's monitor thread, which then looks around every 20 µs until all is
// idle again. A call that cannot block needs none of that: a piece of a reply
// that comes alone costs about half the processor time without it (a bare loop of
// a socket read and a write every 2 ms; for the product docs/performance.md).
package fdio
