package status

import "time"

// Resolution and length of the series.
const (
	pointEvery   = 5 * time.Second
	seriesPoints = 4320 // six hours
)

// curves holds the recent past in bounded memory.
type curves struct {
	points []Point
	last   time.Time
}

// due reports whether it is time for a point.
func (c *curves) due(now time.Time) bool { return now.Sub(c.last) >= pointEvery-tickEvery/2 }

// add appends a point.
func (c *curves) add(now time.Time, p Point) {
	c.last = now
	c.points = append(c.points, p)
	if len(c.points) > seriesPoints {
		c.points = append(c.points[:0], c.points[len(c.points)-seriesPoints:]...)
	}
}

// series returns the points as one list for each line.
func (c *curves) series() Series {
	s := Series{
		Keep:         seriesPoints,
		Time:         []float64{},
		Scored:       []*float64{},
		Featurized:   []*float64{},
		Trained:      []*float64{},
		In:           []*float64{},
		Out:          []*float64{},
		Waiting:      []*float64{},
		LiveError:    []*float64{},
		LivePromised: []*float64{},
		Letters:      []*float64{},
	}
	for _, p := range c.points {
		s.Time = append(s.Time, p.Time)
		s.Scored = append(s.Scored, p.Scored)
		s.Featurized = append(s.Featurized, p.Featurized)
		s.Trained = append(s.Trained, p.Trained)
		s.LiveError, s.LivePromised = append(s.LiveError, p.LiveError), append(s.LivePromised, p.LivePromised)
		s.In = append(s.In, p.In)
		s.Out = append(s.Out, p.Out)
		s.Waiting = append(s.Waiting, p.Waiting)
		s.Letters = append(s.Letters, p.Letters)
	}
	return s
}

// seconds returns a time as seconds since 1970.
func seconds(t time.Time) float64 { return float64(t.UnixMilli()) / 1000 }
