package status

import "time"

// How closely the past is kept.
const (
	pointEvery   = 5 * time.Second
	seriesPoints = 4320 // six hours
)

// curves are the recent past, in bounded memory.
type curves struct {
	points []Point
	last   time.Time
}

// due reports whether it is time for a point.
func (c *curves) due(now time.Time) bool { return now.Sub(c.last) >= pointEvery-tickEvery/2 }

// add appends a point.
func (c *curves) add(now time.Time, p Point) {
	c.last = now
	if c.points = append(c.points, p); len(c.points) > seriesPoints {
		c.points = append(c.points[:0], c.points[len(c.points)-seriesPoints:]...)
	}
}

// series returns the points as one list for each line.
func (c *curves) series() Series {
	s := Series{Keep: seriesPoints, Time: []float64{}, Scored: []*float64{}, Featurized: []*float64{},
		Trained: []*float64{}, In: []*float64{}, Out: []*float64{}, Waiting: []*float64{}, LiveError: []*float64{}, LivePromised: []*float64{}, Letters: []*float64{}}
	for _, p := range c.points {
		s.Time = append(s.Time, p.Time)
		s.Scored, s.Featurized, s.Trained = append(s.Scored, p.Scored), append(s.Featurized, p.Featurized), append(s.Trained, p.Trained)
		s.LiveError, s.LivePromised = append(s.LiveError, p.LiveError), append(s.LivePromised, p.LivePromised)
		s.In, s.Out, s.Waiting, s.Letters = append(s.In, p.In), append(s.Out, p.Out), append(s.Waiting, p.Waiting), append(s.Letters, p.Letters)
	}
	return s
}

// seconds is a time since 1970.
func seconds(t time.Time) float64 { return float64(t.UnixMilli()) / 1000 }
