package training

import (
	"errors"
	"slices"

	"github.com/eerf-stream/eerf/internal/parallel"
	"github.com/eerf-stream/eerf/training/internal/linear"
)

// path solves a system for the levels of a grid and judges the answers. A Cholesky factorisation
// for each λ takes M³/3 operations in tiles of matrix products. A dozen of them take less time than
// one eigendecomposition, most of which is products of a matrix with a vector.
type path struct {
	system *system
	grid   Grid
	trace  bool                               // answers need the trace of the inverse
	judge  func(answers []solution) []float64 // returns the loss of each

	tried map[float64]judged // by λ
	room  []*linear.Cholesky // one for each goroutine
}

// judged is an answer and its loss.
type judged struct {
	solution
	loss float64
}

func newPath(s *system, g Grid, trace bool, judge func(answers []solution) []float64) *path {
	return &path{system: s, grid: g, trace: trace, judge: judge, tried: make(map[float64]judged)}
}

// losses returns the loss of each level.
func (p *path) losses(levels []float64) ([]float64, error) {
	todo := p.untried(levels)
	answers, err := p.solveAll(todo)
	if err != nil {
		return nil, err
	}
	for i, loss := range p.judge(answers) {
		p.tried[todo[i]] = judged{solution: answers[i], loss: loss}
	}
	losses := make([]float64, len(levels))
	for i, level := range levels {
		losses[i] = p.at(level).loss
	}
	return losses, nil
}

// untried returns the λ of levels that have no answer yet, each once.
func (p *path) untried(levels []float64) []float64 {
	var todo []float64
	for _, level := range levels {
		lambda := p.system.lambda(p.grid, level)
		if _, ok := p.tried[lambda]; !ok && !slices.Contains(todo, lambda) {
			todo = append(todo, lambda)
		}
	}
	return todo
}

// at returns the answer for a level that was passed to losses.
func (p *path) at(level float64) judged { return p.tried[p.system.lambda(p.grid, level)] }

// solveAll solves for every λ in parallel. A goroutine takes one λ at a time and 8·M² bytes.
func (p *path) solveAll(lambdas []float64) ([]solution, error) {
	answers, errs := make([]solution, len(lambdas)), make([]error, len(lambdas))
	m := p.system.features
	workers := parallel.Workers(len(lambdas), len(lambdas)*m*m*m/3)
	for len(p.room) < workers {
		p.room = append(p.room, linear.NewCholesky(m))
	}
	parallel.Tasks(workers, len(lambdas), func(worker, i int) {
		answers[i], errs[i] = p.system.solve(lambdas[i], p.room[worker], p.trace)
	})
	return answers, errors.Join(errs...)
}
