package stages

import (
	"maps"
	"time"

	"github.com/eerf-stream/eerf/arrowio/wire"
)

// Challenges tells how the models that a process made stood against those in use.
type Challenges struct {
	Verdicts map[wire.Verdict]int64
	Last     *wire.Judgement // the newest; nil = none yet
	At       time.Time       // when the newest model on the topic was trained
	Pin      wire.Pin        // of the model in use
}

func (c Challenges) clone() Challenges {
	c.Verdicts = maps.Clone(c.Verdicts)
	return c
}

// challenged notes what became of a model that was just made.
func (c *Counters) challenged(j *wire.Judgement) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.challenges.Verdicts[j.Verdict]++
	c.challenges.Last = j
}

// setPin notes whether the model in use is pinned, and when the newest model was trained.
func (c *Counters) setPin(pin wire.Pin, newest time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.challenges.Pin, c.challenges.At = pin, newest
}
