package wire

import (
	"time"

	"github.com/eerf-stream/eerf/scoring/adaptive"
)

// Progress reports how far the selection of an exploration has come. It is for people: no process
// continues from it.
type Progress struct {
	Exploration string    `json:"exploration"`
	Sequence    int64     `json:"sequence" bound:"0..1e12"`
	Rows        int64     `json:"rows"`   // of the sample
	Round       int       `json:"round"`  // the current one, from 1 on
	Rounds      int       `json:"rounds"` // at most
	Time        time.Time `json:"time,omitzero"`
	// Points are the feature sets measured on held-out rows so far, under the adaptive criterion.
	Points []adaptive.Point `json:"points,omitempty" bound:"list 4096"`
}

// Last returns the newest point; nil = none.
func (p *Progress) Last() *adaptive.Point {
	if len(p.Points) == 0 {
		return nil
	}
	return &p.Points[len(p.Points)-1]
}

// Validate returns an error for an unusable name.
func (p *Progress) Validate() error { return checkName("exploration", p.Exploration) }

func (p *Progress) describe() string { return "progress" }

func (p *Progress) canonical() { p.Time = canonicalTime(p.Time) }

// EncodeProgress returns the message for p.
func EncodeProgress(p *Progress) ([]byte, error) { return encodeControl(progressDocument, p) }

// DecodeProgress reads a message that [EncodeProgress] wrote.
func DecodeProgress(value []byte) (*Progress, error) {
	return decodeControl[Progress](progressDocument, value)
}
