//go:build !linux

package host

import "time"

func processTime(int) time.Duration { return 0 }

func peakMemory(int) int64 { return 0 }

func residentMemory(int) int64 { return 0 }
