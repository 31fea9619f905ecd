//go:build !linux

package main

import "errors"

func relay() {}

func relayFloor() (float64, error) { return 0, errors.ErrUnsupported }
