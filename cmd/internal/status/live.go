package status

import "github.com/eerf-stream/eerf/stages/live"

// liveOf returns a report with lists that are never nil.
func liveOf(r live.Report) live.Report {
	if r.Hours == nil {
		r.Hours = []live.Hour{}
	}
	return r
}

// liveErrors returns the live error of the newest 1,000 rows and its promise, in percent; nil if
// unknown.
func liveErrors(r live.Report) (live, promised *float64) {
	if r.Short == nil {
		return nil, nil
	}
	return &r.Short.Error, r.Short.PromisedError
}
