package pipeline

import (
	"context"
	"errors"
	"sync/atomic"
)

// ErrNoMemory is the answer to a fetch that may take only free memory, see [OnlyFree].
var ErrNoMemory = Permanent(errors.New("no memory is free for records"))

// hold is the memory that records take, in the account of the [Log] that fetched them.
type hold struct {
	released atomic.Bool
	release  func()
}

// Holding returns a response whose records take memory until release is called, once. A [Log] makes it.
func (f Fetched) Holding(release func()) Fetched {
	f.held = &hold{release: release}
	return f
}

// Release gives the memory of the records back to the [Log]; they must not be used any more. A [Reader] calls it when
// it is asked for the next records. Callers of [Log].Fetch call it once themselves.
func (f Fetched) Release() {
	if f.held == nil {
		return
	}
	if f.held.released.Swap(true) {
		panic("pipeline: records released once too often")
	}
	f.held.release()
}

type contextKey int

const (
	forStateKey contextKey = iota
	onlyFreeKey
	batchBudgetKey
)

// ForState marks the fetches of a context as fetches of the project's own state. They have their own memory, so that
// holders of records may wait for them. A holder of records from such a fetch must not wait for another one.
func ForState(ctx context.Context) context.Context { return context.WithValue(ctx, forStateKey, true) }

// IsForState reports whether a context comes from [ForState].
func IsForState(ctx context.Context) bool { return ctx.Value(forStateKey) != nil }

// OnlyFree marks the fetches of a context as ones that do not wait for memory: if none is free they fail with
// [ErrNoMemory].
func OnlyFree(ctx context.Context) context.Context {
	return context.WithValue(ctx, onlyFreeKey, true)
}

// IsOnlyFree reports whether a context comes from [OnlyFree].
func IsOnlyFree(ctx context.Context) bool { return ctx.Value(onlyFreeKey) != nil }

// WithBatchBudget limits the batches that the fetches of a context accept to a number of bytes; a larger one is an
// [*UnreadableBatchError]; 0 = the broker's own limit. The limit decides which batches can be read, so processes that
// derive one result from a range of the log have to use the same one.
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

// MemoryStats says how much memory is taken by fetched records that are still held.
type MemoryStats struct {
	Used, Limit, Peak int64 // bytes
	Waiting           int   // fetches that wait for memory
}
