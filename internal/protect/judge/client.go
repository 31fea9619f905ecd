package judge

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"time"
)

// Endpoint is the judgement service (runner.md 22).
const Endpoint = "https://api.typesafe.ai/v1/systemone"

// Bounds of one Ask (tools.md 7.1).
const (
	askTimeout     = 15 * time.Second
	retryDelay     = 100 * time.Millisecond
	maxAnswerBytes = 2 << 20
)

// Client asks the remote service. It is safe for concurrent use.
type Client struct {
	// HTTP sends requests. It must not follow redirects: the key would follow too.
	HTTP http.RoundTripper
	// Key is what the service knows its user by. It goes into one header.
	Key string
	// Cache keeps answers; nil: none.
	Cache *Cache

	url string // tests only; "" is Endpoint
}

// Ask implements Assessor. It takes at most 15 s, a second attempt included.
func (c *Client) Ask(ctx context.Context, state any, questions map[string]Question) (Answers, error) {
	body, err := encode(state, questions)
	if err != nil {
		return Answers{}, err
	}
	if kept, ok := c.Cache.load(body, questions); ok {
		return kept, nil
	}
	limited, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	raw, err := c.attempts(limited, body)
	if cause := context.Cause(ctx); cause != nil {
		return Answers{}, cause
	}
	if err != nil {
		return Answers{}, err
	}
	a, err := decode(raw, questions)
	if err == nil {
		c.Cache.store(body, raw)
	}
	return a, err
}

// attempts sends the request, and once again where that may help.
func (c *Client) attempts(ctx context.Context, body []byte) ([]byte, error) {
	raw, wait, err := c.attempt(ctx, body)
	if wait < 0 || err == nil {
		return raw, err
	}
	if end, ok := ctx.Deadline(); ok && time.Until(end) <= wait {
		return nil, err // it would only be asked after the time is up
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
		return nil, failure(TimedOut, "the service did not answer in time")
	}
	raw, _, err = c.attempt(ctx, body)
	return raw, err
}

// attempt sends the request once. wait is how long to wait before the next
// attempt, below 0 when there is to be none.
func (c *Client) attempt(ctx context.Context, body []byte) (raw []byte, wait time.Duration, err error) {
	url := c.url
	if url == "" {
		url = Endpoint
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return nil, -1, failure(Unreachable, "the request cannot be made")
	}
	req.Header.Set("Authorization", "Bearer "+c.Key)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	resp, err := c.HTTP.RoundTrip(req)
	if err != nil {
		return nil, -1, c.lost(ctx)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, retryAfter(resp), refused(resp.StatusCode)
	}
	raw, err = io.ReadAll(io.LimitReader(resp.Body, maxAnswerBytes+1))
	switch {
	case err != nil:
		return nil, -1, c.lost(ctx)
	case len(raw) > maxAnswerBytes:
		return nil, -1, failure(Malformed, "the answer is too large")
	}
	return raw, -1, nil
}

// lost says why nothing came back. The transport's error may hold anything.
func (c *Client) lost(ctx context.Context) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return failure(TimedOut, "the service did not answer in time")
	}
	return failure(Unreachable, "the service cannot be reached")
}

func refused(status int) error {
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden:
		return failure(Refused, "the service refuses the key")
	case http.StatusTooManyRequests:
		return failure(RateLimited, "the service is asked too often")
	}
	return failure(Rejected, "the service answers with status "+strconv.Itoa(status))
}

// retryAfter is the wait before the next attempt; below 0: there is none.
func retryAfter(resp *http.Response) time.Duration {
	s := resp.StatusCode
	if s != http.StatusRequestTimeout && s != http.StatusTooManyRequests && s < 500 {
		return -1
	}
	said := resp.Header.Get("Retry-After")
	if n, err := strconv.Atoi(said); err == nil && n >= 0 {
		return time.Duration(min(n, 3600)) * time.Second
	}
	if at, err := http.ParseTime(said); err == nil {
		return max(time.Until(at), 0)
	}
	return retryDelay
}
