package status

import "time"

const (
	// pointEvery is the time between two points of the series, seriesPoints how many are kept: ten minutes.
	pointEvery   = 2 * time.Second
	seriesPoints = 300
)

// ring keeps the newest points.
type ring struct {
	points []Point
	last   time.Time
}

// due says that it is time for a point.
func (r *ring) due(now time.Time) bool { return now.Sub(r.last) >= pointEvery-pointEvery/10 }

// add appends a point.
func (r *ring) add(now time.Time, p Point) {
	r.last = now
	if r.points = append(r.points, p); len(r.points) > seriesPoints {
		r.points = append(r.points[:0], r.points[len(r.points)-seriesPoints:]...)
	}
}

// series are the points line by line.
func (r *ring) series() Series {
	s := Series{EverySeconds: pointEvery.Seconds(), Time: []float64{}, Scored: []*float64{}, Featurized: []*float64{},
		Trained: []*float64{}, In: []*float64{}, Out: []*float64{}, Waiting: []*float64{}}
	for _, p := range r.points {
		s.Time = append(s.Time, p.Time)
		s.Scored, s.Featurized, s.Trained = append(s.Scored, p.Scored), append(s.Featurized, p.Featurized), append(s.Trained, p.Trained)
		s.In, s.Out, s.Waiting = append(s.In, p.In), append(s.Out, p.Out), append(s.Waiting, p.Waiting)
	}
	return s
}
