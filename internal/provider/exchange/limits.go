package exchange

// maxRequests may be in each phase at once, in the whole process: providers.md 7.2.
const maxRequests = 32

// Limits counts requests that wait for headers, stream, or read an error body.
// One value serves the whole process. It is safe for concurrent use.
type Limits struct {
	headers, streams, errors chan struct{}
}

// NewLimits returns empty counters.
func NewLimits() *Limits {
	return &Limits{
		headers: make(chan struct{}, maxRequests), // full: the attempt fails at once, retryable
		streams: make(chan struct{}, maxRequests),
		errors:  make(chan struct{}, maxRequests),
	}
}

// tryAcquire takes a place in a class, or reports that there is none.
func tryAcquire(class chan struct{}) (release func(), ok bool) {
	select {
	case class <- struct{}{}:
		return func() { <-class }, true
	default:
		return nil, false
	}
}
