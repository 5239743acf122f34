package serve

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/eerf-stream/eerf/arrowio"
	"github.com/eerf-stream/eerf/arrowio/encoder"
	"github.com/eerf-stream/eerf/arrowio/formats"
	"github.com/eerf-stream/eerf/arrowio/tensors"
	"github.com/eerf-stream/eerf/stages/deadletter"
	"github.com/eerf-stream/eerf/stages/featurize"
	"github.com/eerf-stream/eerf/stages/meter"
	"github.com/eerf-stream/eerf/stages/serve"
)

// Content types of bodies.
const (
	typeJSON  = "application/json"
	typeArrow = "application/vnd.apache.arrow.stream"
	typeBytes = "application/octet-stream" // of binary tensors
)

func (s *Server) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/predict", s.answering(meter.EndpointPredict, (*call).predict))
	mux.HandleFunc("POST /v1/features", s.answering(meter.EndpointFeatures, (*call).features))
	mux.HandleFunc("POST /v2/models/{name}/infer", s.answering(meter.EndpointInfer, (*call).infer))
	mux.HandleFunc("POST /v2/models/{name}/versions/{version}/infer", s.answering(meter.EndpointInfer, (*call).infer))
	s.describe(mux)
	return mux
}

// fault is the reason for refusing a request.
type fault struct {
	code    int // HTTP status
	outcome int
	reason  string // a stable word
	err     error
	rows    []formats.RowFault // faults of rows; nil for other faults
}

func (f *fault) Error() string { return f.err.Error() }

func faultf(code, outcome int, reason, format string, args ...any) *fault {
	return &fault{code: code, outcome: outcome, reason: reason, err: fmt.Errorf(format, args...)}
}

// faultOf returns how an error in reading or mapping rows is reported to the client.
func faultOf(err error) *fault {
	known := (*fault)(nil)
	switch {
	case errors.As(err, &known):
		return known
	case errors.Is(err, serve.ErrNoPair):
		return &fault{code: http.StatusServiceUnavailable, outcome: meter.Unavailable, reason: "nothing_served", err: err}
	case errors.Is(err, serve.ErrBusy):
		return &fault{code: http.StatusServiceUnavailable, outcome: meter.Busy, reason: "busy", err: err}
	case errors.Is(err, arrowio.ErrTooLarge), errors.Is(err, arrowio.ErrBudget):
		return &fault{code: http.StatusRequestEntityTooLarge, outcome: meter.TooLarge, reason: deadletter.Reason(err),
			err: err}
	case errors.Is(err, tensors.ErrTensors):
		return &fault{code: http.StatusBadRequest, outcome: meter.Invalid, reason: tensors.Reason, err: err}
	case errors.Is(err, encoder.ErrSchema) || formats.Reason(err) != "":
		return &fault{code: http.StatusBadRequest, outcome: meter.Invalid, reason: deadletter.Reason(err), err: err}
	case errors.Is(err, context.Canceled):
		return &fault{code: http.StatusServiceUnavailable, outcome: meter.Failed, reason: "gone",
			err: fmt.Errorf("the client disconnected: %w", err)}
	}
	return &fault{code: http.StatusInternalServerError, outcome: meter.Failed, reason: "failed", err: err}
}

// call is a request about rows in progress.
type call struct {
	*Server
	w        http.ResponseWriter
	r        *http.Request
	deadline time.Time
	slot     *serve.Slot
	buffers  *buffers
	charged  int64 // from the limiter's memory
	total    int   // rows in the request
	rejected int
	remarks  encoder.Remarks

	allowMissing bool // set by the request or the configuration
}

// buffers is memory that requests reuse.
type buffers struct {
	small, large []byte
	body         []byte // body of the request, in one of the buffers
	answer       []byte
}

// keptBuffer is the largest buffer kept for later requests.
const keptBuffer = 64 << 10

var spare = sync.Pool{New: func() any { return new(buffers) }}

func (b *buffers) free() {
	b.body = nil
	if cap(b.large) > keptBuffer {
		b.large = nil
	}
	if cap(b.answer) > keptBuffer {
		b.answer = nil
	}
	spare.Put(b)
}

// answering returns the handler of an endpoint with the parts that all requests about rows share.
// answer makes the answer and returns its content type.
func (s *Server) answering(endpoint int, answer func(c *call) (contentType string, err error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		start := time.Now()
		s.Serving.Begin()
		c := call{Server: s, w: w, r: r, deadline: start.Add(2 * s.config.Timeout), buffers: spare.Get().(*buffers)}
		outcome := meter.Failed
		defer func() {
			if p := recover(); p != nil {
				s.Logger.Error("request failed", zap.Any("fault", p), zap.ByteString("stack", debug.Stack()))
				c.refuse(faultf(http.StatusInternalServerError, meter.Failed, "failed", "internal error"))
			}
			s.Limiter.Release(c.charged)
			c.buffers.free()
			s.Serving.End(endpoint, outcome, start, c.total, c.rejected)
		}()
		if err := c.do(answer); err != nil {
			f := faultOf(err)
			outcome = f.outcome
			c.refuse(f)
			return
		}
		outcome = meter.Answered
	}
}

// do makes and sends the answer.
func (c *call) do(answer func(c *call) (contentType string, err error)) error {
	if !c.authorized(c.r) {
		return faultf(http.StatusUnauthorized, meter.Unauthorized, "unauthorized",
			"the token is missing or wrong; send the value of serve.token as a bearer token")
	}
	if err := c.readQuery(); err != nil {
		return err
	}
	if err := c.read(); err != nil {
		return err
	}
	contentType, pair, err := c.work(answer)
	if err != nil {
		return err
	}
	header := c.w.Header()
	header["Content-Type"] = []string{contentType}
	header["Content-Length"] = []string{strconv.Itoa(len(c.buffers.answer))}
	header[headerSet] = []string{pair.SetID()}
	if pair.Model != nil {
		header[headerModel] = []string{pair.ModelID()}
	}
	nameRemarks(header, &c.remarks)
	if c.stopping.Load() {
		header["Connection"] = []string{"close"}
	}
	_, err = c.w.Write(c.buffers.answer)
	if err != nil {
		return faultf(http.StatusInternalServerError, meter.Failed, "gone", "the client disconnected: %w", err)
	}
	return nil
}

// Headers that name the feature set and model of an answer, in the spelling of net/http; header
// names ignore case.
const (
	headerSet   = "Eerf-Feature-Set"
	headerModel = "Eerf-Model"
)

// work makes the answer in a slot. It releases the slot before the answer is sent, so a slow client
// does not hold it.
func (c *call) work(answer func(c *call) (contentType string, err error)) (string, *featurize.Pair, error) {
	slot, err := c.Limiter.Slot(c.r.Context(), c.deadline)
	if err != nil {
		if errors.Is(err, serve.ErrNoPair) {
			_, detail := c.Ready()
			err = fmt.Errorf("%w: %s", err, detail)
		}
		return "", nil, err
	}
	defer slot.Close()
	c.slot = slot
	contentType, err := answer(c)
	return contentType, slot.Pair(), err
}

// charge takes memory from the limiter for the request.
func (c *call) charge(n int64) error {
	if !c.Limiter.Reserve(n) {
		return faultf(http.StatusServiceUnavailable, meter.Busy, "no_memory",
			"no room for %d bytes in addition to the requests in progress (serve.memory)", n)
	}
	c.charged += n
	return nil
}

// read reads the body after charging its length.
func (c *call) read() error {
	if c.r.Header.Get("Content-Encoding") != "" {
		return faultf(http.StatusUnsupportedMediaType, meter.Invalid, "content_encoding",
			"Content-Encoding %.100q is not supported; send the body without encoding", c.r.Header.Get("Content-Encoding"))
	}
	size, most := c.r.ContentLength, c.config.MaxBodyBytes
	if size > most {
		return c.tooLong()
	}
	known := size >= 0
	if !known {
		size = most + 1 // one more byte shows that it is too long
	}
	err := c.receive(size)
	switch {
	case !known && err == nil:
		return c.tooLong()
	case !known && errors.Is(err, io.EOF):
		return nil
	case errors.Is(err, os.ErrDeadlineExceeded):
		return faultf(http.StatusRequestTimeout, meter.Invalid, "slow_body", "the body arrived slower than %d bytes a second",
			bodyRate)
	case err == nil || errors.As(err, new(*fault)):
		return err
	}
	return faultf(http.StatusBadRequest, meter.Invalid, "body", "read the body: %w", err)
}

const (
	// smallBody is the memory of a body before any of it has arrived. It counts as part of its
	// connection; more is charged, and doubles as bytes arrive.
	smallBody = 16 << 10
	// A body has to arrive at this rate after a grace period.
	bodyRate  = 16 << 10
	bodyGrace = 2 * time.Second
)

// arrival returns how long bytes may take.
func arrival(bytes int) time.Duration { return bodyGrace + time.Duration(bytes)*time.Second/bodyRate }

// receive reads the given number of bytes of the body. The error is io.EOF if the body is shorter.
func (c *call) receive(size int64) error {
	control, start := http.NewResponseController(c.w), c.deadline.Add(-2*c.config.Timeout)
	b := c.buffers
	if b.small == nil {
		b.small = make([]byte, smallBody)
	}
	into, have := b.small[:min(size, smallBody)], 0
	for {
		_ = control.SetReadDeadline(start.Add(min(c.config.Timeout, arrival(have)))) // a test's recorder has none
		n, err := c.r.Body.Read(into[have:])
		have += n
		b.body = into[:have]
		switch {
		case int64(have) == size:
			_ = control.SetReadDeadline(c.deadline)
			return nil
		case err != nil:
			return err
		case have < len(into):
			continue
		}
		into, err = c.moreBody(into, min(size, int64(max(keptBuffer, 2*have))))
		if err != nil {
			return err
		}
	}
}

// moreBody returns memory of the given size with the bytes that have arrived.
func (c *call) moreBody(arrived []byte, size int64) ([]byte, error) {
	before := c.charged
	if err := c.charge(size); err != nil {
		return nil, err
	}
	b := c.buffers
	if int64(cap(b.large)) < size {
		b.large = make([]byte, size)
	}
	into := b.large[:size]
	copy(into, arrived)
	c.Limiter.Release(before) // memory of the old buffer
	c.charged -= before
	return into, nil
}

func (c *call) tooLong() error {
	return faultf(http.StatusRequestEntityTooLarge, meter.TooLarge, "too_large",
		"the body is longer than %d bytes (serve.max_body_bytes)", c.config.MaxBodyBytes)
}

// reserve checks the number of rows against the limit of answers, and charges the memory for making
// the answer.
func (c *call) reserve(rows, answer, made int64) error {
	c.total = int(rows)
	if answer > c.config.MaxResponseBytes {
		return faultf(http.StatusRequestEntityTooLarge, meter.TooLarge, "too_large",
			"the answer for %d rows could take %d bytes, more than %d (serve.max_response_bytes)",
			rows, answer, c.config.MaxResponseBytes)
	}
	return c.charge(answer + made)
}

// refuse answers with a fault. Nothing else was sent before.
func (c *call) refuse(f *fault) {
	if f.outcome == meter.Failed {
		c.Logger.Warn("request failed", zap.String("path", c.r.URL.Path), zap.Error(f.err))
	}
	header := c.w.Header()
	switch f.outcome {
	case meter.Unauthorized:
		header.Set("WWW-Authenticate", `Bearer realm="eerf"`)
	case meter.Busy, meter.Unavailable:
		header.Set("Retry-After", "1")
	}
	if c.stopping.Load() {
		header.Set("Connection", "close")
	}
	send(c.w, f.code, struct {
		Error  string             `json:"error"`
		Reason string             `json:"reason"`
		Rows   []formats.RowFault `json:"rows,omitempty"`
	}{f.err.Error(), f.reason, f.rows})
}

// send answers with a small JSON document.
func send(w http.ResponseWriter, code int, value any) {
	text, err := json.Marshal(value)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Del("Content-Length")
	w.Header().Set("Content-Type", typeJSON)
	w.WriteHeader(code)
	_, _ = w.Write(append(text, '\n')) // the client may have disconnected
}

// authorized compares the token in a time that depends neither on its correct part nor on its
// length.
func (s *Server) authorized(r *http.Request) bool {
	if s.config.Token == "" {
		return true
	}
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	want, have := sha256.Sum256([]byte(s.config.Token)), sha256.Sum256([]byte(token))
	return strings.EqualFold(scheme, "Bearer") && subtle.ConstantTimeCompare(want[:], have[:]) == 1
}

// bodyType returns the content type of the body. A foreign web page must be unable to send it
// without a preflight request.
func bodyType(r *http.Request, accepted ...string) (string, error) {
	said := r.Header.Get("Content-Type")
	kind := said
	if strings.IndexByte(said, ';') >= 0 {
		kind, _, _ = mime.ParseMediaType(said)
	}
	for _, one := range accepted {
		if strings.EqualFold(kind, one) {
			return one, nil
		}
	}
	return "", faultf(http.StatusUnsupportedMediaType, meter.Invalid, "content_type", "Content-Type %.100q: want %s",
		said, strings.Join(accepted, " or "))
}
