// Package adaptive learns frequencies from the rows of a sample: it draws candidates where the function bends, chooses among
// them by the residual criterion, and moves what it chose.
//
// # Words
//
// A round draws a pool of candidates, chooses M of them as [scoring.Residual] does, fits ridge weights, and computes from these
// the average gradient outer product G = E[∇f ∇fᵀ], which says along which directions the model f bends (Radhakrishnan,
// Beaglehole, Pandit and Belkin, "Mechanism for feature learning in neural networks and backpropagation-free machine learning
// models", Science 2024). The next round draws most of its pool by G. The refinement then moves frequencies and phases, with the
// weights solved out (Golub and Pereyra, "The differentiation of pseudo-inverses and nonlinear least squares problems whose
// variables separate", SIAM Journal on Numerical Analysis, 1973), by L-BFGS over full sums. By the features that were moved another
// round is drawn, and what that chooses is moved as well.
//
// Every fifth row of the sample, by [scoring.HeldOut], is held out of all this. The guard fits a ridge path on the other rows and
// measures its loss on the held-out ones, for a [Point] after each round and every few steps of the refinement; one point is
// what criterion residual would choose. The point with the least loss wins, so that a small sample does not do harm. That loss
// is the least of some thirty and not an estimate of the error on new rows.
//
// # What it holds for
//
// The cosine map with independent Gaussian candidates ([Check]). Of the arc-cosine maps the choice by residual and the guard would
// hold, of orders 1 and 2 the refinement as well; order 0 has no slope, and none of them has the phases and scales that the pools
// are made of. The linear map has nothing to learn.
//
// # Bits
//
// A result depends on the sample, the description of the candidates, the options but Workers, and [scoring.Arithmetic] alone: sums
// grow in row order under one owner, and what is done in float64 is written so that no compiler fuses a product and a sum.
//
// # Ownership and concurrency
//
// Inputs are read and not kept. [Learn] uses up to Workers goroutines, which have ended when it returns. [Options.Progress] is called on
// the goroutine of the caller.
package adaptive
