//go:build unix

package fdio

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"time"
)

// connected returns both ends of a TCP connection; the first one is a Conn.
func connected(t *testing.T) (quick, other net.Conn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	dialled, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	if other, err = l.Accept(); err != nil {
		t.Fatal(err)
	}
	quick = Conn(dialled)
	t.Cleanup(func() { _, _ = quick.Close(), other.Close() })
	return quick, other
}

func TestConnReadsAll(t *testing.T) {
	quick, other := connected(t)
	want := bytes.Repeat([]byte("some bytes, "), 100_000)
	go func() {
		for b := want; len(b) > 0; {
			n, err := other.Write(b[:min(len(b), 70_001)])
			if err != nil {
				break
			}
			b = b[n:]
		}
		_ = other.Close()
	}()
	got, err := io.ReadAll(quick)
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("%d bytes of %d, %v", len(got), len(want), err)
	}
}

// TestConnWritesAll: a body, too, without a buffer for each.
func TestConnWritesAll(t *testing.T) {
	quick, other := connected(t)
	got := make(chan []byte)
	go func() {
		b, err := io.ReadAll(other)
		if err != nil {
			t.Error(err)
		}
		got <- b
	}()
	want := bytes.Repeat([]byte("some bytes, "), 5_000)
	n, err := quick.(io.ReaderFrom).ReadFrom(io.LimitReader(bytes.NewReader(want), int64(len(want))))
	if n != int64(len(want)) || err != nil {
		t.Errorf("%d bytes of %d, %v", n, len(want), err)
	}
	allocs := testing.AllocsPerRun(50, func() {
		if _, err := quick.(io.ReaderFrom).ReadFrom(io.LimitReader(bytes.NewReader(want[:100]), 100)); err != nil {
			t.Error(err)
		}
	})
	if allocs > 4 { // the readers of this test, and what hides ReadFrom
		t.Errorf("%v allocations", allocs)
	}
	if err := quick.Close(); err != nil {
		t.Fatal(err)
	}
	if b := <-got; !bytes.HasPrefix(b, want) || len(b) != len(want)+51*100 {
		t.Errorf("%d bytes came", len(b))
	}
}

func TestConnDeadlineAndClose(t *testing.T) {
	quick, _ := connected(t)
	var b [10]byte
	_ = quick.SetReadDeadline(time.Now().Add(-time.Second))
	if _, err := quick.Read(b[:]); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("past the deadline: %v", err)
	}
	_ = quick.SetReadDeadline(time.Time{})
	done := make(chan error)
	go func() {
		_, err := quick.Read(b[:])
		done <- err
	}()
	_ = quick.Close() // before the read or during it
	if err := <-done; !errors.Is(err, net.ErrClosed) {
		t.Errorf("closed: %v", err)
	}
}

func TestConnReset(t *testing.T) {
	quick, other := connected(t)
	_ = other.(*net.TCPConn).SetLinger(0)
	_ = other.Close()
	var b [10]byte
	n, err := quick.Read(b[:])
	var op *net.OpError
	if n != 0 || !errors.As(err, &op) {
		t.Errorf("reset: %d, %v", n, err)
	}
}

func TestConnOfAnotherKind(t *testing.T) {
	a, b := net.Pipe()
	defer func() { _, _ = a.Close(), b.Close() }()
	if Conn(a) != a {
		t.Error("a pipe in memory has no descriptor, and yet it was wrapped")
	}
}

func TestConnReadsWithoutAllocation(t *testing.T) {
	quick, other := connected(t)
	var b [10]byte
	got := testing.AllocsPerRun(100, func() {
		if _, err := other.Write(b[:]); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(quick, b[:]); err != nil {
			t.Fatal(err)
		}
	})
	if got > 0 {
		t.Errorf("%v allocations a read", got)
	}
}

// What a user reads of a connection that broke does not depend on who read it.
func TestConnFailsLikeAnyOther(t *testing.T) {
	for name, spoil := range map[string]func(quick, other net.Conn){
		"reset":    func(_, other net.Conn) { _, _ = other.(*net.TCPConn).SetLinger(0), other.Close() },
		"ended":    func(_, other net.Conn) { _ = other.Close() },
		"closed":   func(quick, _ net.Conn) { _ = quick.Close() },
		"deadline": func(quick, _ net.Conn) { _ = quick.SetReadDeadline(time.Now().Add(-time.Second)) },
	} {
		var texts [2]string
		for i := range texts {
			quick, other := connected(t)
			local, remote := quick.LocalAddr().String(), quick.RemoteAddr().String()
			spoil(quick, other)
			if i == 1 {
				quick = quick.(*conn).TCPConn
			}
			_, err := quick.Read(make([]byte, 9))
			if err == nil {
				t.Fatal(name, "read without an error")
			}
			texts[i] = strings.NewReplacer(local, "local", remote, "remote").Replace(err.Error())
		}
		if texts[0] != texts[1] {
			t.Errorf("%s: %q; a connection of package net says %q", name, texts[0], texts[1])
		}
	}
}
