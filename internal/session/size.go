package session

// Size is the length of the session's file in bytes, 0 before the first append.
func (h *Handle) Size() int64 {
	h.turn <- struct{}{}
	defer h.unlock()
	return h.print.size
}
