// Package training turns rows of random features into linear models.
//
// A row is (z, y): z holds the M feature values weight·φ(x, ω)/√M in float32, y holds the K outputs
// (the labels of a regression, or ±1 for classes, see CodeClasses). The model is
//
//	f_k(z) = θ0_k + Σ_m θ_km z_m
//
// It minimises, for all outputs at once and with one λ,
//
//	(1/N) Σ_n (f_k(zⁿ) − y_kⁿ)² + λ‖θ_k‖²
//
// The intercept θ0 is not penalised. Each row is read once: Sums keeps second moments, from which
// Train solves the ridge problem for every λ of a Grid. Sums of disjoint rows add up, so every
// partition keeps its own pair of Sums (rows to fit on, and rows that HeldOut holds out to choose λ
// on). They are merged in partition order before training.
//
//	rows ─HeldOut─▶ Sums (fit)      ─┐
//	     └────────▶ Sums (held out) ─┴─ Train ─▶ Fit ─▶ Model
//	     └────────▶ EvaluationSample ─ Regression / Classification ─▶ Measures of Fit.OnFit
//
// The bits of the moments depend only on the order of the rows, not on how the rows were cut into
// calls and not on GOMAXPROCS. Processors with AVX-512 and processors with AVX2 and FMA give the
// same bits. Other processors, and builds with the tag noasm, give other bits and therefore other
// models.
//
// Products are summed in float32 over blocks of 128 rows, about a shift near the mean of each
// column, and blocks in float64 (package internal/gram). Merged sums take the shifts of the part
// with more rows. The covariance of two columns is therefore accurate to about 2⁻²⁴/√(N/128) of
// their standard deviations (2⁻²⁴ below 128 rows), and their matrix A to about ε =
// 2⁻²⁴‖A‖_F/√(N/128) in norm. A smaller λ would fit the rounding errors. It is raised to ε/4, and
// further if A + λI is not safely positive definite. That is 10⁻⁷ to 10⁻⁶ of the mean diagonal for
// thousands of rows, less for more.
//
// The logistic loss has no such sums. TrainLogistic keeps Rows in memory and iterates, with the
// second moments of the features as preconditioner.
//
// Values should be finite. Sums accept any magnitude: a value of 1e30 after many of size 1 counts
// like any other. Sums overflow only if two values of one column differ by more than the largest
// float32. Callers refuse rows with NaN or infinities. Train and TrainLogistic return ErrNotFinite
// if a sum overflowed or such a row got through. Wrong shapes are programming errors and panic with
// the prefix "training:". A Sums, Rows, EvaluationSample or metric belongs to one goroutine. A
// Model is immutable and safe for concurrent use.
package training
