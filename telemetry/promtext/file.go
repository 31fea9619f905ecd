package promtext

import (
	"magicode/telemetry/point"
	"magicode/telemetry/rawfile"
)

// maxBytes bounds the file.
const maxBytes = 1 << 20

// File is the text file. It is for one goroutine.
type File struct {
	dir  int
	lock int
	name string
	mode uint32
}

// Open takes the path for this process. The error is a rawfile.Trouble; Locked
// when another child writes there.
func Open(path string, mode uint32) (*File, error) {
	folder, name := rawfile.Split(path)
	dir, err := rawfile.OpenDir(folder, false, rawfile.GroupToo)
	if err != nil {
		return nil, err
	}
	lock, err := rawfile.Lock(dir, name+".lock")
	if err != nil {
		rawfile.Close(dir)
		return nil, err
	}
	return &File{dir: dir, lock: lock, name: name, mode: mode}, nil
}

// Write replaces the file. up is whether the child lives. When it fails, the
// file is as it was.
func (f *File) Write(metrics []point.Metric, up bool, version string) error {
	text := Encode(append(metrics, about(up, version)...))
	if len(text) > maxBytes {
		return rawfile.FileIO
	}
	return rawfile.Replace(f.dir, f.name, text, f.mode)
}

func about(up bool, version string) []point.Metric {
	value := 0.0
	if up {
		value = 1
	}
	return []point.Metric{
		{Name: "magi.up", Type: point.Gauge, Points: []point.Point{{Value: value}}},
		{Name: "magi.build.info", Type: point.Gauge, Points: []point.Point{{Value: 1, Labels: []point.Label{{Key: "version", Value: version}}}}},
	}
}

// Close gives the path back.
func (f *File) Close() {
	rawfile.Close(f.lock)
	rawfile.Close(f.dir)
}
