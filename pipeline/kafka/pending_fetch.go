package kafka

import (
	"sync"
	"time"

	"github.com/eerf-stream/eerf/pipeline"
)

// pendingFetch is the fetch of one partition, which travels in one or several requests.
type pendingFetch struct {
	partitionKey
	log      pipeline.LogID // in the request
	offset   int64
	maxBytes int // in the request
	maxSet   int // limit of a record set: brokers exceed maxBytes only for a single larger batch
	cold     bool
	alone    bool // needs a request without other partitions
	deadline time.Time
	memory   *account
	// need returns the memory for a record set of set bytes with the number of aborted
	// transactions.
	need func(set, aborted int) int64

	mu       sync.Mutex // guards the fields below until done is closed
	state    fetchState
	funds    *grant         // memory for the response; nil = taken when it arrives, if free
	latest   *fetchResponse // without records
	response *fetchResponse
	err      error
	done     chan struct{}
}

type fetchState uint8

const (
	fetchWaits fetchState = iota
	fetchIsRead
	fetchAbandoned // by its caller while the response is read
	fetchDecided
)

// sent clears the result of an earlier request.
func (p *pendingFetch) sent() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.latest = nil
}

// begin is called before the response is read; it returns false if the caller no longer waits.
func (p *pendingFetch) begin() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.state != fetchWaits {
		return false
	}
	p.state = fetchIsRead
	return true
}

// fund takes memory for the response while it is read. It does not wait.
func (p *pendingFetch) fund(bytes int64) bool {
	if p.funds != nil {
		return p.funds.extend(bytes)
	}
	p.funds = p.memory.try(bytes)
	return p.funds != nil
}

// empty records a response without records; the fetch continues to wait.
func (p *pendingFetch) empty(response *fetchResponse) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.latest = response
	if p.state == fetchAbandoned {
		p.settle(nil, nil)
		return
	}
	p.state = fetchWaits
}

// finish answers the caller. The reader of the response calls it.
func (p *pendingFetch) finish(response *fetchResponse, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.state != fetchDecided {
		p.settle(response, err)
	}
}

// fail answers the caller with an error unless a response has arrived or is being read.
func (p *pendingFetch) fail(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.state == fetchWaits {
		p.settle(nil, err)
	}
}

// abandon is called when the caller no longer waits.
func (p *pendingFetch) abandon() {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch p.state {
	case fetchIsRead:
		p.state = fetchAbandoned
	case fetchDecided:
		p.funds.release()
		p.funds = nil
	default:
		p.state = fetchAbandoned
		p.settle(nil, nil)
	}
}

// settle decides the fetch, with mu locked. The memory goes to the caller or, if that has left, is
// released.
func (p *pendingFetch) settle(response *fetchResponse, err error) {
	if p.state == fetchAbandoned {
		p.funds.release()
		p.funds = nil
	}
	p.state = fetchDecided
	p.response = response
	p.err = err
	close(p.done)
}

// waits returns the last response without records, and whether the fetch is still waiting.
func (p *pendingFetch) waits() (latest *fetchResponse, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.latest, p.state == fetchWaits
}
