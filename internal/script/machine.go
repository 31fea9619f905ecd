package script

import (
	_ "embed"
	"errors"
	"fmt"
	"strings"
	"sync"

	"modernc.org/quickjs"
)

//go:embed sdk.js
var sdkSource string

// sdk is the prelude, on one line: a stack frame behind it is a line of the
// user's own source.
var sdk = sync.OnceValue(func() string { return strings.ReplaceAll(sdkSource, "\n", " ") })

// compiled is the prelude's bytecode, made by the first engine.
var compiled = sync.OnceValues(func() ([]byte, error) {
	vm, err := quickjs.NewVM()
	if err != nil {
		return nil, err
	}
	defer vm.Close()
	return vm.Compile(sdk(), quickjs.EvalGlobal)
})

// The source becomes the body of a strict function. What stands before it is
// line 1.
const (
	before = "__run(function () { \"use strict\";\n"
	after  = "\n})"
)

// request is one call of the script to the host.
type request struct{ op, a, b string }

// finished is how the engine ended.
type finished struct {
	text string // of the run function of the prelude
	full bool   // the heap came near its limit
	err  error
}

// machine is one engine. Its goroutine owns the VM; the goroutine that made it
// answers its requests and may interrupt it.
type machine struct {
	vm       *quickjs.VM
	heap     heap
	memory   int          // bytes that the heap may take
	requests chan request // unbuffered: the script waits for the answer
	answers  chan string  // unbuffered
	done     chan finished
	gone     chan struct{} // closed when nobody answers any more
}

// newMachine makes an engine that is ready for a source.
func newMachine(memory int) (*machine, error) {
	code, err := compiled()
	if err != nil {
		return nil, fmt.Errorf("compile the prelude: %w", err)
	}
	vm, err := quickjs.NewVM()
	if err != nil {
		return nil, fmt.Errorf("make the engine: %w", err)
	}
	m := &machine{
		vm: vm, heap: heapOf(vm), memory: memory, requests: make(chan request), answers: make(chan string),
		done: make(chan finished, 1), gone: make(chan struct{}),
	}
	vm.SetCanBlock(false)
	vm.SetMaxStackSize(maxFrames)
	vm.SetMemoryLimit(uintptr(memory))
	if err = vm.RegisterHostFunc("__host", m.host); err == nil {
		_, err = vm.EvalBytecode(code)
	}
	if err != nil {
		vm.Close()
		return nil, fmt.Errorf("prepare the engine: %w", err)
	}
	return m, nil
}

// maxFrames stands for a stack of 512 KiB (tools.md 3.4): the engine counts
// frames, not bytes, and one of the reference takes a good 256 of them.
const maxFrames = 2000

// run evaluates a source and frees the engine. It is the machine's goroutine.
func (m *machine) run(source string) {
	var f finished
	defer func() {
		if p := recover(); p != nil {
			f = finished{err: errEngine}
		}
		m.close()
		m.done <- f
	}()
	v, err := m.vm.Eval(before+source+after, quickjs.EvalGlobal)
	f.full = m.heap.wasFull(m.memory)
	if err != nil {
		f.err = err
		return
	}
	text, ok := v.(string)
	if !ok {
		f.err = errEngine
		return
	}
	f.text = text
}

var errEngine = errors.New("the JavaScript engine failed")

// close frees the engine; one that has broken is left to the collector.
func (m *machine) close() {
	defer func() { _ = recover() }()
	m.vm.Close()
}

// host carries one request of the script over to the goroutine that answers.
func (m *machine) host(args []any) (any, error) {
	var r request
	for i, to := range []*string{&r.op, &r.a, &r.b} {
		if i < len(args) {
			*to, _ = args[i].(string)
		}
	}
	select {
	case m.requests <- r:
	case <-m.gone:
		m.vm.Interrupt()
		return "null", nil
	}
	select {
	case answer := <-m.answers:
		return answer, nil
	case <-m.gone:
		m.vm.Interrupt()
		return "null", nil
	}
}
