// Package tools measures the file tools. Run: go test -run '^$' -bench . ./bench/tools
package tools
