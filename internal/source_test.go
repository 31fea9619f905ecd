package internal

import "os"

func parserSource(path string) ([]byte, error) { return os.ReadFile(path) }
