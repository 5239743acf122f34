// Package adaptive learns frequencies from the rows of a sample: it draws candidates along the
// directions in which the function bends, chooses among them by the residual criterion, and refines
// the chosen ones.
//
// # Words
//
// A round draws a pool of candidates, chooses M of them as [scoring.Residual] does, fits ridge
// weights, and computes from them the average gradient outer product G = E[∇f ∇fᵀ], which shows the
// directions along which the model f bends (Radhakrishnan, Beaglehole, Pandit and Belkin,
// "Mechanism for feature learning in neural networks and backpropagation-free machine learning
// models", Science 2024). The next round draws most of its pool by G. The refinement then moves
// frequencies and phases, with the weights solved out (Golub and Pereyra, "The differentiation of
// pseudo-inverses and nonlinear least squares problems whose variables separate", SIAM Journal on
// Numerical Analysis, 1973), by L-BFGS over full sums. From the refined features another round is
// drawn, and its choice is refined as well.
//
// Every fifth row of the sample is held out ([scoring.Sample.HeldOut]). The guard fits a ridge path
// on the other rows and measures its loss on the held-out ones, for a [Point] after each round and
// after every few steps of the refinement. The point with the least loss wins, so that a small
// sample does no harm. That loss is the least of about thirty, so it underestimates the error on
// new rows.
//
// # Where it applies
//
// It applies to the cosine map with independent Gaussian candidates ([scoring.Criterion.Check]).
// For arc-cosine maps the choice by residual and the guard would work, and for orders 1 and 2 the
// refinement as well. But order 0 has no slope, and none of them has the phases and scales from
// which pools are drawn. The linear map has nothing to learn.
//
// # Bits
//
// A result depends only on the sample, the description of the candidates, the options except
// Workers, and [scoring.Arithmetic]. Sums grow in row order under one owner, and float64 code is
// written so that no compiler fuses a product and a sum.
//
// # Ownership and concurrency
//
// Inputs are neither kept nor changed. [Learn] uses up to Workers goroutines, which end before it
// returns. [Options.Progress] is called on the caller's goroutine.
package adaptive
