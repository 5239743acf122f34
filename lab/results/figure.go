package main

import (
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/eerf-stream/eerf/compare/report"
)

// draw writes the figure of a data set: the errors of some methods, and of trees, over the time per row.
func draw(path string, sets []*set, trees *trees, methods []string) error {
	if len(sets) != 1 {
		return errors.New("-figure is of one data set")
	}
	r := sets[0].Result
	speeds := report.Speeds(r)
	if len(methods) > 0 {
		speeds = slices.DeleteFunc(speeds, func(s report.Speed) bool { return !slices.Contains(methods, s.Method) })
	}
	for _, name := range trees.methods() {
		s := report.Speed{Method: name}
		for _, size := range trees.sizes(r.Data.Name, name) {
			s.Points = append(s.Points, report.SpeedPoint{Microseconds: size.microseconds, Error: size.error.value, StdErr: size.error.error})
		}
		speeds = append(speeds, s)
	}
	figure, err := report.SpeedFigure(r.Data.Name+": "+report.SpeedLabel(r), speeds)
	if err != nil {
		return err
	}
	if err := os.WriteFile(path, figure.SVG, 0o644); err != nil { //nolint:gosec // a picture of the documentation
		return fmt.Errorf("write the figure: %w", err)
	}
	return nil
}
