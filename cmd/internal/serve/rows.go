package serve

import (
	"net/http"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/eerf-stream/eerf/stages/events"
	"github.com/eerf-stream/eerf/stages/featurize"
	"github.com/eerf-stream/eerf/stages/meter"
)

// predict answers with the model's predictions for the rows.
func (c *call) predict() (string, error) {
	if c.slot.Pair().Model == nil {
		return "", faultf(http.StatusServiceUnavailable, meter.Unavailable, "no_model",
			"no model to predict with; only features are served")
	}
	return c.rows(false)
}

// features answers with the features of the rows.
func (c *call) features() (string, error) { return c.rows(true) }

// rows answers requests with rows of JSON or Arrow.
func (c *call) rows(features bool) (string, error) {
	given, err := bodyType(c.r, typeJSON, typeArrow)
	if err != nil {
		return "", err
	}
	read := c.slot.JSON
	if given == typeArrow {
		read = c.slot.Arrow
	}
	batches, err := read(c.buffers.body)
	if err != nil {
		return "", err
	}
	defer events.Release(batches)
	if given == typeJSON {
		if err := refuseRows(c.slot.RowFaults(c.allowMissing)); err != nil {
			return "", err
		}
	}
	wanted := answerType(c.r, given)
	made, err := c.mapRows(batches, features, false, sizesOf(c.slot.Pair(), features, false), wanted == typeJSON)
	if err != nil {
		return "", err
	}
	if wanted == typeArrow {
		c.buffers.answer, err = c.slot.Message(features)
		return typeArrow, err
	}
	c.buffers.answer = appendRows(c.buffers.answer[:0], c.slot.Pair(), made, &c.remarks, features)
	return typeJSON, nil
}

// mapRows maps batches after taking memory for the work and the answer.
func (c *call) mapRows(
	batches []arrow.Record,
	features, spread bool,
	s sizes,
	asJSON bool,
) (*featurize.Mapped, error) {
	rows := events.CountRows(batches)
	answer := s.fixed + rows*s.jsonRow
	if !asJSON {
		answer = s.fixed + rows*s.binaryRow
	}
	if err := c.reserve(rows, answer, rows*s.binaryRow); err != nil {
		return nil, err
	}
	if asJSON && int64(cap(c.buffers.answer)) < answer { // growing would take more than was charged
		c.buffers.answer = make([]byte, 0, answer)
	}
	made, err := c.slot.Map(batches, features, spread)
	if err != nil {
		return nil, err
	}
	c.rejected = len(made.Rejected)
	c.remarks, err = c.remarksOn(batches, made.Counts)
	return made, err
}

// answerType returns the format of the answer: the requested one, else that of the rows.
func answerType(r *http.Request, given string) string {
	accept := r.Header.Get("Accept")
	switch {
	case accept == "":
		return given
	case strings.Contains(accept, typeArrow):
		return typeArrow
	case strings.Contains(accept, typeJSON):
		return typeJSON
	}
	return given
}

// sizes bound the size of an answer.
type sizes struct{ fixed, jsonRow, binaryRow int64 }

const (
	// numberBytes is the length of the longest float32 in JSON with its comma.
	numberBytes = 16
	// doubleBytes is the length of the longest float64 in JSON with its comma.
	doubleBytes = 26
	// rejectedBytes is the size of an unusable row: null, or its entry in the list of rejected
	// rows.
	rejectedBytes = 64
	// frameBytes is the size of everything around the rows: names, ids, remarks, Arrow's schema.
	frameBytes = 16<<10 + 2*remarkBytes
	// escapedBytes is the largest size of one byte of a name in JSON.
	escapedBytes = 6
)

func sizesOf(pair *featurize.Pair, features, spread bool) sizes {
	s := sizes{fixed: frameBytes, jsonRow: rejectedBytes, binaryRow: 8}
	add := func(numbers int64) {
		s.jsonRow += numbers*numberBytes + 2
		s.binaryRow += 4 * numbers
	}
	if features {
		add(int64(pair.Features()))
	}
	doubles := int64(pair.Outputs())
	if spread {
		doubles += int64(pair.SpreadWidth())
	}
	s.jsonRow += doubles*doubleBytes + 2
	s.binaryRow += 8 * doubles
	var longest, names int64
	for _, name := range pair.Classes() {
		longest = max(longest, int64(len(name)))
		names += int64(len(name)) + numberBytes
	}
	if pair.Classes() != nil {
		add(int64(len(pair.Classes()))) // probabilities
		s.jsonRow += longest*escapedBytes + 3
		s.binaryRow += longest + 4
	}
	s.fixed += names * escapedBytes
	return s
}
