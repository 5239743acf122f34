// Package training turns rows of random features into linear models.
//
// A row is (z, y): z holds the M feature values weight·φ(x, ω)/√M in float32, y the K outputs
// (regression: the labels; classification: ±1, see CodeClasses). The model is
//
//	f_k(z) = θ0_k + Σ_m θ_km z_m
//
// and minimises, for every output at once and with one λ,
//
//	(1/N) Σ_n (f_k(zⁿ) − y_kⁿ)² + λ‖θ_k‖²
//
// where the intercept θ0 is not penalised. Rows are seen once: Sums keeps their second moments, and
// Train solves the ridge problem for every λ of a Grid from one eigendecomposition of them. Because
// sums of disjoint rows add, every partition keeps its own pair of Sums (rows to fit on, and rows held
// out by HeldOut to choose λ on), merged in partition order before training.
//
//	rows ─HeldOut─▶ Sums (fit)      ─┐
//	     └────────▶ Sums (held out) ─┴─ Train ─▶ Fit ─▶ Model
//	     └────────▶ EvaluationSample ─ Regression / Classification metrics of Fit.OnFit
//
// The moments after a sequence of rows depend on the order of the rows alone, to the last bit: not on
// how they were cut into calls, not on GOMAXPROCS, not on the processor (see gram.go).
//
// Values are expected to be finite; rows with NaN or infinities are refused before they get here, and
// Train answers ErrNotFinite if one slipped through. Wrong shapes are programming errors and panic
// with the prefix "training:". A Sums, EvaluationSample or metric belongs to one goroutine; a Model is
// immutable and safe for concurrent use.
package training
