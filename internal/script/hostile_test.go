package script

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"magicode/internal/racetest"
	"magicode/internal/tool"
)

// TestHostile: whatever a script does, its batch ends in time with a report,
// and what it may not reach stays out of reach.
func TestHostile(t *testing.T) {
	const any = ""
	for name, row := range map[string]struct{ code, value, err string }{
		"recursion":                {"function f() { f() } f()", any, "stack overflow"},
		"recursion, caught":        {"let n = 0; function f() { n++; f() } try { f() } catch (e) { return n > 500 && n < 5000 }", "true", any},
		"getter recursion":         {"const o = {get x() { return this.x }}; o.x", any, "stack overflow"},
		"toString recursion":       {"const o = {toString() { return '' + this }}; '' + o", any, "stack overflow"},
		"proxy chain":              {"let p = {}; for (let i = 0; i < 1e5; i++) p = new Proxy(p, {}); p.x", any, any},
		"bind chain":               {"let p = () => 1; for (let i = 0; i < 1e5; i++) p = p.bind(null); p()", any, any},
		"deep JSON":                {"JSON.parse('['.repeat(1e6))", any, "stack overflow"},
		"deep value":               {"let a = []; for (let i = 0; i < 1e5; i++) a = [a]; return a", any, any},
		"deep arguments":           {"let a = []; for (let i = 0; i < 1e5; i++) a = [a]; tools.call('echo', a)", any, any},
		"deep source":              {"eval('['.repeat(1e6))", any, "stack overflow"},
		"deep pattern":             {"new RegExp('(?:'.repeat(1e5))", any, any},
		"backtracking":             {"/(a+)+$/.test('a'.repeat(60) + 'b')", any, "execution time"},
		"sparse array":             {"new Array(2 ** 32 - 1).indexOf(1)", any, "more than 10000000 elements"},
		"array-like":               {"Array.prototype.join.call({length: 2 ** 53 - 1})", any, "more than 10000000 elements"},
		"large string":             {"let s = 'x'; for (;;) s += s", any, any},
		"large buffer":             {"new Uint8Array(1e9)", any, "memory"},
		"many objects":             {"const a = []; for (;;) a.push({})", any, "memory"},
		"memory, caught":           {"for (;;) { try { const a = []; for (;;) a.push({}) } catch (e) {} }", any, any},
		"BigInt":                   {"let a = 3n; for (;;) a *= a", any, any},
		"blocking":                 {"Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)", any, "cannot block"},
		"promises":                 {"Promise.resolve().then(() => tools.call('change', {})); return 1", "1", any},
		"async":                    {"(async () => { for (;;) await 1 })(); return 1", "1", any},
		"generator":                {"function* g() { for (;;) yield 1 } for (const x of g());", any, "execution time"},
		"finally":                  {"try { for (;;); } finally { return 1 }", any, "execution time"},
		"polluted prototypes":      {"Object.prototype.value = 1; Object.prototype.get = () => 1; Object.prototype.toJSON = undefined; Array.prototype.map = null; return tools.call('echo', {a: 1}).success", "true", any},
		"patched JSON":             {"JSON.parse = () => { throw 1 }; JSON.stringify = JSON.parse; return tools.call('echo', {a: 1}).content.text", `"{\"a\":1}"`, any},
		"patched built-ins":        {"Reflect.apply = Object.freeze = String = Promise = undefined; return [1].indexOf(1)", "0", any},
		"patched errors":           {"Error.prototype.toString = () => { for (;;); }; Error.prepareStackTrace = () => { throw 2 }; throw new Error('x')", any, "failed: x"},
		"patched error, endless":   {"InternalError.prototype.toString = Error.prototype.toString = () => { for (;;); }; for (;;);", any, "execution time"},
		"message getter on proto":  {"Object.defineProperty(Error.prototype, 'message', {get() { for (;;); }}); for (;;);", any, "execution time"},
		"species":                  {"class A extends Array { static get [Symbol.species]() { throw new Error('species') } } new A(1, 2).map(x => x)", any, "species"},
		"Function":                 {"return Function('return typeof this.tools')()", `"object"`, any},
		"arguments and caller":     {"try { return arguments.callee } catch (e) { return e.name }", `"TypeError"`, any},
		"out of the wrapper":       {"}); globalThis.x = 1; (function () {", any, any},
		"run again":                {"return typeof __run", `"undefined"`, any},
		"frames of the prelude":    {"try { tools.describe(1) } catch (e) { return e.stack.includes('host') }", "false", any},
		"name of a prototype":      {"return [tools.describe('__proto__'), tools.describe('constructor'), tools.call('toString', {}).success]", `[null,null,true]`, any},
		"arguments with __proto__": {`return tools.call('echo', JSON.parse('{"__proto__": {"a": 1}}')).content.text`, `"{\"__proto__\":{\"a\":1}}"`, any},
	} {
		t.Run(name, func(t *testing.T) {
			if racetest.On && name == "BigInt" {
				t.Skip("one multiplication outlives the test")
			}
			o := Options{Limits: limits()}
			o.Limits.MemoryBytes = 2 << 20
			if endless := row.err == "execution time" || row.err == any && row.value == any; endless {
				o.Limits.Runtime = 400 * time.Millisecond
			}
			began := time.Now()
			out, res, err := run(t, t.Context(), row.code, o)
			if took := time.Since(began); took > 30*time.Second {
				t.Errorf("took %v", took)
			}
			if err != nil || !strings.Contains(out.Error, row.err) || row.value != "" && string(out.Value) != row.value || row.err != "" && out.Error == "" {
				t.Errorf("%v %s %s", err, out.Value, out.Error)
			}
			if len(res.Changed) > 0 {
				t.Error("a tool ran that must not")
			}
		})
	}
}

// TestAbandoned: a loop inside the engine that nothing interrupts costs the
// batch its result, not the turn its time.
func TestAbandoned(t *testing.T) {
	if racetest.On {
		t.Skip("the loop outlives the test")
	}
	o := Options{Limits: limits()}
	o.Limits.Runtime = 50 * time.Millisecond
	var warned []string
	o.Warn = func(s string) { warned = append(warned, s) }
	began := time.Now()
	// The length tells the guard one thing and the engine another; the loop ends
	// by itself after some seconds, so that no goroutine outlives the test.
	out, _, err := run(t, t.Context(), "let n = 0; Array.prototype.indexOf.call({get length() { return n++ ? 15e6 : 1 }}, 1)", o)
	if took := time.Since(began); err != nil || took > 2*time.Second || !strings.Contains(out.Error, "execution time") {
		t.Errorf("%v after %v: %+v", err, took, out)
	}
	if len(warned) != len(out.Execution.Warnings) {
		t.Error(warned)
	}
	if len(warned) == 0 {
		t.Skip("the loop was over before it was abandoned")
	}
}

// TestAbandonedCannotCall: what an abandoned engine still asks for is not done.
func TestAbandonedCannotCall(t *testing.T) {
	m, err := newMachine(32 << 20)
	if err != nil {
		t.Fatal(err)
	}
	close(m.gone)
	go m.run("for (;;) tools.call('echo', {})")
	if f := <-m.done; f.err == nil {
		t.Error("the script went on")
	}
}

// TestManyBatches: engines may follow each other and run side by side.
func TestManyBatches(t *testing.T) {
	t.Run("side by side", func(t *testing.T) {
		for i := range 4 {
			t.Run(fmt.Sprint(i), func(t *testing.T) {
				t.Parallel()
				batches(t)
			})
		}
	})
}

func batches(t *testing.T) {
	for i := range 15 {
		if out, _, err := run(t, t.Context(), "return tools.call('echo', {}).success", Options{}); err != nil || string(out.Value) != "true" {
			t.Fatalf("%d: %v %+v", i, err, out)
		}
	}
}

func FuzzSource(f *testing.F) {
	for _, s := range []string{"return 1", "throw {}", "}); (function(){", "tools.call('echo', {a: [1]})", "`${", "/*", "for(;;);", "return tools.budget()", "\x00", "return '\u2028'"} {
		f.Add(s)
	}
	l := limits()
	l.Runtime, l.MemoryBytes, l.InnerCalls = 100*time.Millisecond, 4<<20, 10
	f.Fuzz(func(t *testing.T, code string) {
		args, err := json.Marshal(map[string]string{"code": code})
		if err != nil {
			t.Skip()
		}
		res, fatal := Run(context.Background(), args, Options{Limits: l, Surface: surface(), Call: echo})
		if fatal != nil || !json.Valid([]byte(res.Content)) {
			t.Errorf("%v %q", fatal, res.Content)
		}
	})
}

func BenchmarkEngine(b *testing.B) {
	args := json.RawMessage(`{"code":"return 1"}`)
	b.ReportAllocs()
	for b.Loop() {
		if res, err := Run(b.Context(), args, Options{Limits: limits(), Surface: surface(), Call: echo}); err != nil || !res.Success {
			b.Fatal(err, res.Content)
		}
	}
}

func BenchmarkInnerCalls(b *testing.B) {
	args := json.RawMessage(`{"code":"for (let i = 0; i < 200; i++) tools.call('echo', {i}); return 1"}`)
	b.ReportAllocs()
	for b.Loop() {
		if res, err := Run(b.Context(), args, Options{Limits: limits(), Surface: surface(), Call: echo}); err != nil || !res.Success {
			b.Fatal(err, res.Content)
		}
	}
}

var _ tool.Tool = Tool{}
