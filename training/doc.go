// Package training turns rows of random features into linear models.
//
// A row is (z, y): z holds the M feature values weight·φ(x, ω)/√M in float32, y the K outputs (regression: the labels;
// classification: ±1, see CodeClasses). The model is
//
//	f_k(z) = θ0_k + Σ_m θ_km z_m
//
// and minimises, for every output at once and with one λ,
//
//	(1/N) Σ_n (f_k(zⁿ) − y_kⁿ)² + λ‖θ_k‖²
//
// where the intercept θ0 is not penalised. Rows are seen once: Sums keeps their second moments, and Train solves the
// ridge problem for every λ of a Grid from them. Because sums of disjoint rows add, every partition keeps its own pair
// of Sums (rows to fit on, and rows held out by HeldOut to choose λ on), merged in partition order before training.
//
//	rows ─HeldOut─▶ Sums (fit)      ─┐
//	     └────────▶ Sums (held out) ─┴─ Train ─▶ Fit ─▶ Model
//	     └────────▶ EvaluationSample ─ Regression / Classification ─▶ Measures of Fit.OnFit
//
// The moments after a sequence of rows depend only on the order of the rows, to the last bit: not on how they were cut
// into calls and not on GOMAXPROCS. Processors with AVX-512 and with AVX2 and FMA give the same bits. Others, and
// builds with the tag noasm, give other bits, and therefore other models.
//
// Products are summed in float32 over blocks of 128 rows, about a shift near the mean of each column, and blocks in
// float64 (package internal/gram). Merged sums take the shifts of the part with more rows. So the covariance of two
// columns is known to about 2⁻²⁴/√(N/128) of their standard deviations (2⁻²⁴ below 128 rows), their matrix A to about ε
// = 2⁻²⁴‖A‖_F/√(N/128) in norm. A smaller λ would fit that rounding: it is raised to ε/4, and further if A + λI is not
// safely positive definite. That is 10⁻⁷ to 10⁻⁶ of the mean diagonal for thousands of rows, less for more.
//
// The logistic loss has no such sums: TrainLogistic takes Rows, which are kept in memory, and iterates. The second
// moments of the features are its preconditioner.
//
// Values should be finite. Sums accept any magnitude: a value of 1e30 after many of size 1 counts like any other. Only
// if two values of one column differ by more than the largest float32 are there no sums. Rows with NaN or infinities
// are refused before they get here; Train and TrainLogistic return ErrNotFinite if either problem slipped through.
// Wrong shapes are programming errors and panic with the prefix "training:". A Sums, Rows, EvaluationSample or metric
// belongs to one goroutine; a Model is immutable and safe for concurrent use.
package training
