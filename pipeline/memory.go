package pipeline

import (
	"context"
	"errors"
	"sync/atomic"
)

// ErrNoMemory is the error of a fetch with [OnlyFree] when memory is short.
var ErrNoMemory = Permanent(errors.New("no memory is free for records"))

// hold is the memory of fetched records, charged by the [Log] that fetched them.
type hold struct {
	released atomic.Bool
	release  func()
}

// Holding returns a response whose records take memory until release is called, once.
// Implementations of [Log] call it.
func (f Fetched) Holding(release func()) Fetched {
	f.held = &hold{release: release}
	return f
}

// Release returns the memory of the records to the [Log]; they must not be used afterwards. A
// [Reader] releases its records before it fetches the next ones. Callers of [Log].Fetch call it
// once themselves.
func (f Fetched) Release() {
	if f.held == nil {
		return
	}
	if f.held.released.Swap(true) {
		panic("pipeline: records released twice")
	}
	f.held.release()
}

type contextKey int

const (
	forStateKey contextKey = iota
	onlyFreeKey
	batchBudgetKey
)

// ForState marks the fetches of a context as fetches of the project's own state. They have separate
// memory, so that holders of other records may wait for them. A holder of records from such a fetch
// must not wait for another fetch.
func ForState(ctx context.Context) context.Context { return context.WithValue(ctx, forStateKey, true) }

// IsForState reports whether a context comes from [ForState].
func IsForState(ctx context.Context) bool { return ctx.Value(forStateKey) != nil }

// OnlyFree makes the fetches of a context fail with [ErrNoMemory] instead of waiting for memory.
func OnlyFree(ctx context.Context) context.Context {
	return context.WithValue(ctx, onlyFreeKey, true)
}

// IsOnlyFree reports whether a context comes from [OnlyFree].
func IsOnlyFree(ctx context.Context) bool { return ctx.Value(onlyFreeKey) != nil }

// WithBatchBudget limits the batches that the fetches of a context accept to a number of bytes; a
// larger one is an [*UnreadableBatchError]; 0 = the broker's own limit. The limit decides which
// batches can be read, so processes that derive one result from a range of the log have to use the
// same one.
func WithBatchBudget(ctx context.Context, bytes int64) context.Context {
	if bytes == 0 {
		return ctx
	}
	return context.WithValue(ctx, batchBudgetKey, bytes)
}

// BatchBudgetOf returns the limit that [WithBatchBudget] set, or the given one.
func BatchBudgetOf(ctx context.Context, otherwise int64) int64 {
	if bytes, ok := ctx.Value(batchBudgetKey).(int64); ok {
		return bytes
	}
	return otherwise
}

// MemoryStats is the memory of fetched records that are not yet released.
type MemoryStats struct {
	Used, Limit, Peak int64 // bytes
	Waiting           int   // fetches waiting for memory
}
