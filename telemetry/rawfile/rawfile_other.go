//go:build !unix

package rawfile

import "path/filepath"

// Everything is refused: serve does not run here.

func OpenDir(string, bool, Access) (int, error)  { return -1, FileOpen }
func Free(int) int64                             { return 0 }
func Create(int, string, uint32) (int, error)    { return -1, FileOpen }
func Append(int, []byte) error                   { return FileIO }
func Truncate(int, int64) error                  { return FileIO }
func Replace(int, string, []byte, uint32) error  { return FileIO }
func ReadSmall(int, string, int) ([]byte, error) { return nil, FileOpen }
func Share(int)                                  {}
func InUse(int, string) bool                     { return true }
func Hold(int) bool                              { return false }
func Release(int)                                {}
func Lock(int, string) (int, error)              { return -1, FileOpen }
func List(int) []string                          { return nil }
func Own(int, string) (int64, bool)              { return 0, false }
func Remove(int, string)                         {}
func Close(int)                                  {}
func Split(path string) (dir, name string)       { return filepath.Dir(path), filepath.Base(path) }

func ReadPath(string, int) ([]byte, error) { return nil, FileOpen }
