package lsp

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Bounds of what a server may send. The protocol has none.
const (
	maxHeader  = 4 << 10
	maxMessage = 8 << 20
)

var errFraming = errors.New("the server broke the framing")

// readMessage reads one message: header lines, a blank one, the body. io.EOF is
// the end between two messages.
func readMessage(r *bufio.Reader) ([]byte, error) {
	size, header := -1, 0
	for {
		line, err := r.ReadSlice('\n')
		if header += len(line); header > maxHeader || errors.Is(err, bufio.ErrBufferFull) {
			return nil, fmt.Errorf("%w: its header has more than %d bytes", errFraming, maxHeader)
		}
		if err != nil {
			if len(line) == 0 && header == 0 {
				return nil, io.EOF
			}
			return nil, fmt.Errorf("%w: it ends in a header", errFraming)
		}
		text := strings.TrimRight(string(line), "\r\n")
		if text == "" {
			break
		}
		name, value, ok := strings.Cut(text, ":")
		if !ok {
			return nil, fmt.Errorf("%w: its output is no message", errFraming)
		}
		if strings.EqualFold(strings.TrimSpace(name), "Content-Length") {
			if size, err = strconv.Atoi(strings.TrimSpace(value)); err != nil || size < 0 || size > maxMessage {
				return nil, fmt.Errorf("%w: a message has no length, or more than %d bytes", errFraming, maxMessage)
			}
		}
	}
	if size < 0 {
		return nil, fmt.Errorf("%w: a message has no length", errFraming)
	}
	body, err := io.ReadAll(io.LimitReader(r, int64(size))) // grows with what comes, not with what is announced
	if err == nil && len(body) < size {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return nil, fmt.Errorf("%w: a message is cut off", errFraming)
	}
	return body, nil
}

// frame puts the header before a body.
func frame(body []byte) []byte {
	out := fmt.Appendf(make([]byte, 0, len(body)+32), "Content-Length: %d\r\n\r\n", len(body))
	return append(out, body...)
}
