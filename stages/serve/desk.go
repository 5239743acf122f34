package serve

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/eerf-stream/eerf/arrowio"
	"github.com/eerf-stream/eerf/arrowio/formats"
	"github.com/eerf-stream/eerf/arrowio/tensors"
	"github.com/eerf-stream/eerf/stages/events"
	"github.com/eerf-stream/eerf/stages/featurize"
)

// Reasons why a request is not worked on.
var (
	// ErrBusy: there was no memory, no place became free in time, or the work took too long.
	ErrBusy = errors.New("too busy")
	// ErrNoPair: there is nothing to serve yet.
	ErrNoPair = errors.New("nothing to serve yet")
)

// Desk holds the places at which requests are worked on, and the memory that all requests share. It is safe for concurrent use.
type Desk struct {
	pairs  *Pairs
	config Config
	limits arrowio.Limits
	places chan *place
	left   atomic.Int64 // of Config.Memory
}

// place works on one request at a time. Its readers and mapper fit the pair that it used last.
type place struct {
	pair    *featurize.Pair
	mapper  *featurize.Mapper
	json    *events.Reader
	arrow   *events.Reader
	tensors *tensors.Decoder
}

// NewDesk makes the places. maxColumns limits the columns of a request.
func NewDesk(config Config, maxColumns int, pairs *Pairs) *Desk {
	d := &Desk{pairs: pairs, config: config, limits: config.limits(maxColumns), places: make(chan *place, config.Places())}
	for range config.Places() {
		d.places <- &place{tensors: tensors.NewDecoder(d.limits)}
	}
	d.left.Store(config.Memory)
	return d
}

// limits returns the limits of a request.
func (c Config) limits(maxColumns int) arrowio.Limits {
	return arrowio.Limits{MaxMessageBytes: c.MaxBodyBytes, BudgetBytes: c.BudgetBytes, MaxRows: c.MaxRows, MaxColumns: maxColumns}
}

// Config returns the limits of requests.
func (d *Desk) Config() *Config { return &d.config }

// Pairs returns the holder of the pair being served.
func (d *Desk) Pairs() *Pairs { return d.pairs }

// Take charges bytes to the memory of requests before they are allocated. It returns false if there is no room.
func (d *Desk) Take(n int64) bool {
	if d.left.Add(-n) >= 0 {
		return true
	}
	d.left.Add(n)
	return false
}

// Give returns what Take charged.
func (d *Desk) Give(n int64) { d.left.Add(n) }

// Turn waits for a place until the deadline or the end of ctx, and takes it with the pair served at that moment.
func (d *Desk) Turn(ctx context.Context, deadline time.Time) (*Turn, error) {
	at, err := d.place(ctx, deadline)
	if err != nil {
		return nil, err
	}
	pair := d.pairs.Served()
	if pair == nil {
		d.places <- at
		return nil, ErrNoPair
	}
	if at.pair != pair {
		at.pair, at.mapper = pair, pair.NewMapper()
		source := events.Source{Limits: d.limits, Format: formats.JSON}
		at.json = source.FeatureReader(pair.Encoder())
		source.Format = formats.Arrow
		at.arrow = source.FeatureReader(pair.Encoder())
	}
	return &Turn{desk: d, at: at, deadline: deadline}, nil
}

func (d *Desk) place(ctx context.Context, deadline time.Time) (*place, error) {
	select {
	case at := <-d.places:
		return at, nil
	default:
	}
	timer := time.NewTimer(time.Until(deadline))
	defer timer.Stop()
	select {
	case at := <-d.places:
		return at, nil
	case <-timer.C:
		return nil, ErrBusy
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Turn is a request being worked on. It belongs to one goroutine and ends with Close.
type Turn struct {
	desk     *Desk
	at       *place
	deadline time.Time
}

// Close frees the place for the next request. What the turn returned must not be used afterwards.
func (t *Turn) Close() { t.desk.places <- t.at }

// Pair returns the pair that maps the rows.
func (t *Turn) Pair() *featurize.Pair { return t.at.pair }

// JSON reads rows of JSON in the format of event messages. The caller releases the batches before the next read.
func (t *Turn) JSON(body []byte) ([]arrow.Record, error) { return t.at.json.Read(body) }

// Arrow reads an Arrow IPC stream, otherwise like JSON. The batches may point into the body.
func (t *Turn) Arrow(body []byte) ([]arrow.Record, error) { return t.at.arrow.Read(body) }

// Tensors reads a request of the Open Inference Protocol; header is the length of its JSON in the body. The caller releases its rows.
func (t *Turn) Tensors(body []byte, header int) (*tensors.Request, error) {
	request, err := t.at.tensors.Decode(body, header)
	if err != nil {
		return nil, err
	}
	if err := t.at.pair.Encoder().Check(request.Rows.Schema()); err != nil {
		request.Rows.Release()
		return nil, err
	}
	return request, nil
}

// Map maps the rows of batches; see [featurize.Mapper.Map]. It gives up with [ErrBusy] after the deadline.
func (t *Turn) Map(batches []arrow.Record, features bool) (*featurize.Mapped, error) {
	return t.at.mapper.Map(batches, features, func() error {
		if time.Now().After(t.deadline) {
			return ErrBusy
		}
		return nil
	})
}

// Message returns the last result as an Arrow IPC stream; see [featurize.Mapper.Message].
func (t *Turn) Message(features bool) ([]byte, error) { return t.at.mapper.Message(features) }
