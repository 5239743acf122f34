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

// Reasons for refusing a request.
var (
	// ErrBusy reports that there was no memory, that no slot became free in time, or that the work
	// took too long.
	ErrBusy = errors.New("too busy")
	// ErrNoPair reports that no pair is served yet.
	ErrNoPair = errors.New("nothing to serve yet")
)

// Limiter holds the slots in which requests are processed, and bounds the memory that all requests
// share. It is safe for concurrent use.
type Limiter struct {
	pairs  *Pairs
	config Config
	limits arrowio.Limits // of a request
	slots  chan *Slot
	free   atomic.Int64 // unreserved bytes of Config.Memory
}

// NewLimiter makes the slots. maxColumns limits the columns of a request.
func NewLimiter(config Config, maxColumns int, pairs *Pairs) *Limiter {
	l := &Limiter{pairs: pairs, config: config, slots: make(chan *Slot, config.Slots())}
	l.limits = arrowio.Limits{
		MaxMessageBytes: config.MaxBodyBytes,
		BudgetBytes:     config.BudgetBytes,
		MaxRows:         config.MaxRows,
		MaxColumns:      maxColumns,
	}
	for range config.Slots() {
		l.slots <- &Slot{limiter: l, tensors: tensors.NewDecoder(l.limits)}
	}
	l.free.Store(config.Memory)
	return l
}

// Config returns the limits of requests.
func (l *Limiter) Config() *Config { return &l.config }

// Pairs returns the holder of the served pair.
func (l *Limiter) Pairs() *Pairs { return l.pairs }

// Reserve charges bytes to the memory of requests before they are allocated. It returns false if
// they do not fit.
func (l *Limiter) Reserve(n int64) bool {
	if l.free.Add(-n) >= 0 {
		return true
	}
	l.free.Add(n)
	return false
}

// Release releases bytes charged by Reserve.
func (l *Limiter) Release(n int64) { l.free.Add(n) }

// Slot waits for a slot until the deadline or the end of ctx, and takes it with the pair served at
// that time.
func (l *Limiter) Slot(ctx context.Context, deadline time.Time) (*Slot, error) {
	slot, err := l.wait(ctx, deadline)
	if err != nil {
		return nil, err
	}
	pair := l.pairs.Served()
	if pair == nil {
		slot.Close()
		return nil, ErrNoPair
	}
	slot.use(pair)
	slot.deadline = deadline
	return slot, nil
}

func (l *Limiter) wait(ctx context.Context, deadline time.Time) (*Slot, error) {
	select {
	case slot := <-l.slots:
		return slot, nil
	default:
	}
	timer := time.NewTimer(time.Until(deadline))
	defer timer.Stop()
	select {
	case slot := <-l.slots:
		return slot, nil
	case <-timer.C:
		return nil, ErrBusy
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Slot processes one request at a time. Its readers and its mapper fit the pair that it used last.
// It belongs to the goroutine that took it, until Close.
type Slot struct {
	limiter  *Limiter
	deadline time.Time
	pair     *featurize.Pair
	mapper   *featurize.Mapper
	json     *events.Reader
	columns  *formats.RowColumns // of rows of JSON
	arrow    *events.Reader
	tensors  *tensors.Decoder
}

// use prepares the slot for a pair.
func (s *Slot) use(pair *featurize.Pair) {
	if s.pair == pair {
		return
	}
	s.pair, s.mapper = pair, pair.NewMapper()
	source := events.Source{Limits: s.limiter.limits, Format: formats.JSON}
	s.json = source.FeatureReader(pair.Encoder())
	s.columns = formats.NewRowColumns(pair.Set.Encoder, pair.Set.Lineage.Columns)
	source.Format = formats.Arrow
	s.arrow = source.FeatureReader(pair.Encoder())
}

// Close frees the slot for the next request. Results of its methods must not be used afterwards.
func (s *Slot) Close() { s.limiter.slots <- s }

// Pair returns the pair that maps the rows.
func (s *Slot) Pair() *featurize.Pair { return s.pair }

// JSON reads rows of JSON in the format of event messages. The caller releases the batches before
// the next read.
func (s *Slot) JSON(body []byte) ([]arrow.Record, error) { return s.json.Read(body) }

// RowFaults returns the faults of the rows that JSON read last; see [formats.Decoder.RowFaults].
func (s *Slot) RowFaults(allowMissing bool) []formats.RowFault {
	return s.json.RowFaults(s.columns, allowMissing)
}

// Arrow reads an Arrow IPC stream, otherwise like JSON. The batches may point into the body.
func (s *Slot) Arrow(body []byte) ([]arrow.Record, error) { return s.arrow.Read(body) }

// Tensors reads a request of the Open Inference Protocol; header is the length of its JSON in the
// body. The caller releases its rows.
func (s *Slot) Tensors(body []byte, header int) (*tensors.Request, error) {
	request, err := s.tensors.Decode(body, header)
	if err != nil {
		return nil, err
	}
	if err := s.pair.Encoder().Check(request.Rows.Schema()); err != nil {
		request.Rows.Release()
		return nil, err
	}
	return request, nil
}

// Map maps the rows of batches; see [featurize.Mapper.Map]. It gives up with [ErrBusy] after the
// deadline.
func (s *Slot) Map(batches []arrow.Record, features, spread bool) (*featurize.Mapped, error) {
	if err := s.mapper.AddSpread(spread); err != nil {
		return nil, err
	}
	return s.mapper.Map(batches, features, func() error {
		if time.Now().After(s.deadline) {
			return ErrBusy
		}
		return nil
	})
}

// Message returns the last result as an Arrow IPC stream; see [featurize.Mapper.Message].
func (s *Slot) Message(features bool) ([]byte, error) { return s.mapper.Message(features) }
