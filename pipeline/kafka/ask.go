package kafka

import (
	"sync"
	"time"

	"github.com/eerf-stream/eerf/pipeline"
)

// ask is the fetch of one partition, which travels in one or several requests.
type ask struct {
	partitionKey
	log      pipeline.LogID // the id to ask by; empty = not known
	offset   int64
	maxBytes int // asked for
	maxSet   int // limit of a record set: brokers exceed maxBytes only for a single larger batch
	cold     bool
	alone    bool // in a request of its own
	deadline time.Time
	memory   *account
	// need returns the memory for a record set of that many bytes with that many aborted
	// transactions.
	need func(set, aborted int) int64

	mu       sync.Mutex // guards the fields below until done is closed
	state    askState
	funds    *grant         // memory for the response; nil = whatever is free then
	latest   *fetchResponse // without records
	response *fetchResponse
	err      error
	done     chan struct{}
}

type askState uint8

const (
	askWaits askState = iota
	askIsRead
	askIsLeft // left by its caller while the response is read
	askIsDone
)

// sent forgets the result of an earlier request.
func (a *ask) sent() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.latest = nil
}

// begin is called before the response is read; it returns false if nobody is waiting for it.
func (a *ask) begin() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.state != askWaits {
		return false
	}
	a.state = askIsRead
	return true
}

// fund takes memory for the response while it is read. It does not wait.
func (a *ask) fund(bytes int64) bool {
	if a.funds != nil {
		return a.funds.extend(bytes)
	}
	a.funds = a.memory.try(bytes)
	return a.funds != nil
}

// empty notes a response without records. The ask goes on waiting.
func (a *ask) empty(response *fetchResponse) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.latest = response
	if a.state == askIsLeft {
		a.settle(nil, nil)
		return
	}
	a.state = askWaits
}

// finish answers the caller. The reader of the response calls it.
func (a *ask) finish(response *fetchResponse, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.state != askIsDone {
		a.settle(response, err)
	}
}

// fail answers the caller unless the response is there or is being read.
func (a *ask) fail(err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.state == askWaits {
		a.settle(nil, err)
	}
}

// leave says that the caller no longer waits.
func (a *ask) leave() {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch a.state {
	case askIsRead:
		a.state = askIsLeft
	case askIsDone:
		a.funds.release()
		a.funds = nil
	default:
		a.state = askIsLeft
		a.settle(nil, nil)
	}
}

// settle ends the ask, with mu locked. The memory goes to the caller or, if that has left, is
// released.
func (a *ask) settle(response *fetchResponse, err error) {
	if a.state == askIsLeft {
		a.funds.release()
		a.funds = nil
	}
	a.state, a.response, a.err = askIsDone, response, err
	close(a.done)
}

// waits returns the last response without records, and whether the ask is still waiting.
func (a *ask) waits() (latest *fetchResponse, ok bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.latest, a.state == askWaits
}
