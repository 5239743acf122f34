//go:build !linux

package memlimit

func resident() int64 { return 0 }
