package wire

import (
	"fmt"
	"time"

	"github.com/eerf-stream/eerf/arrowio"
	"github.com/eerf-stream/eerf/scoring/adaptive"
)

// Progress says how far the selection of an exploration has come. It is for information only: nothing is continued
// from it.
type Progress struct {
	Exploration string    `json:"exploration"`
	Sequence    int64     `json:"sequence"`
	Rows        int64     `json:"rows"`   // of the sample
	Round       int       `json:"round"`  // the current one, from 1 on
	Rounds      int       `json:"rounds"` // at most
	Time        time.Time `json:"time,omitzero"`
	// Points are the feature sets measured on held-out rows so far, under the adaptive criterion.
	Points []adaptive.Point `json:"points,omitempty"`
}

// Last returns the newest point; nil = none.
func (p *Progress) Last() *adaptive.Point {
	if len(p.Points) == 0 {
		return nil
	}
	return &p.Points[len(p.Points)-1]
}

type progressDocument struct {
	FormatVersion int `json:"format_version"`
	*Progress
}

// EncodeProgress returns the message for p.
func EncodeProgress(p *Progress) ([]byte, error) {
	if err := checkName("exploration", p.Exploration); err != nil {
		return nil, fmt.Errorf("encode progress: %w", err)
	}
	c := *p
	c.Time = canonicalTime(c.Time)
	return encodeNote(KeyProgress, progressDocument{FormatVersion, &c}, c.Exploration)
}

// DecodeProgress reads a message that [EncodeProgress] wrote.
func DecodeProgress(dec *arrowio.Decoder, value []byte) (*Progress, error) {
	var p Progress
	_, err := decodeNote(dec, value, KeyProgress, &progressDocument{Progress: &p})
	if err == nil {
		err = readTimes(&p.Time)
	}
	if err != nil {
		return nil, fmt.Errorf("decode progress: %w", err)
	}
	if err := checkName("exploration", p.Exploration); err != nil {
		return nil, fmt.Errorf("decode progress: %w: %w", ErrMalformed, err)
	}
	return &p, nil
}
