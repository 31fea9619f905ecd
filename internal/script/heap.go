package script

import (
	"reflect"
	"unsafe"

	lib "modernc.org/libquickjs"
	"modernc.org/quickjs"
)

// heap tells how much an engine has allocated. The engine's Go package does not
// pass the figure on, so it is read where the engine keeps it; a version that
// keeps it elsewhere is told as 0.
type heap struct{ runtime uintptr }

func heapOf(vm *quickjs.VM) heap {
	rt := reflect.ValueOf(vm).Elem().FieldByName("runtime")
	if rt.Kind() != reflect.Pointer || rt.IsNil() {
		return heap{}
	}
	c := rt.Elem().FieldByName("cRuntime")
	if c.Kind() != reflect.Uintptr {
		return heap{}
	}
	return heap{runtime: uintptr(c.Uint())}
}

// at is the engine's own state, which is no memory of Go.
func (h heap) at() *lib.TJSRuntime {
	return *(**lib.TJSRuntime)(unsafe.Pointer(&h.runtime))
}

// used is only called while the script waits for the host.
func (h heap) used() int64 {
	if h.runtime == 0 {
		return 0
	}
	return int64(h.at().Fmalloc_ctx.Fmalloc_state.Fmalloc_size)
}

// wasFull reports, behind a script, whether its heap came near a limit: the
// size at which the engine collects garbage grows with the heap and stays.
func (h heap) wasFull(limit int) bool {
	return h.runtime != 0 && h.at().Fmalloc_gc_threshold >= lib.Tsize_t(limit/2)
}
