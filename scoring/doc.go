// Package scoring draws random features, scores them against labels as rows arrive, and keeps the
// best.
//
// It follows "On Data-Dependent Random Features for Improved Generalization in Supervised Learning"
// (Shahrampour, Beirami, Tarokh, AAAI 2018): draw M0 candidates from a distribution P0, estimate
// for each the score S(ω) = E[y φ(x, ω)] on a sample of rows, keep the M with the greatest energy
// S². A second criterion, correlation, removes the constant and judges a candidate per unit of its
// own variance.
//
// # Words and symbols
//
// A [Candidates] value describes M0 = Count candidates for rows of d = Dim numbers. Candidate i is
// a function of (Seed, i) and of the fields that describe the distribution, never of Count.
// [Features] hold drawn candidates: ω in Omega, the phase b in Phase. The feature maps are
//
//	cosine          φ(x, ω) = cos(ωᵀx + b)
//	arc-cosine n    φ(x, ω) = (ωᵀx)ⁿ·H(ωᵀx), n = 0, 1, 2, with H(0) = ½
//	linear          φ(x, ω) = x_ω, ω a coordinate number
//
// Features of the cosine map may be of mixed kinds ([Kind]). Besides cosines, these are, with
// coordinates x_j, signs s = ±1, thresholds t and q ≤ 3,
//
//	ramp   max(0, ωᵀx + b)
//	hinge  Π_a max(0, s_a·(x_ja − t_a)), a = 1..q
//	box    Π_a 1[s_a·(x_ja − t_a) ≥ 0]
//
// They are learned (package adaptive), never drawn from a description. Features are always listed
// in the order of their kinds, so the features of a kind are adjacent columns. Within a kind, a set
// lists the best first.
//
// [Sums] are the result of one pass over the rows of a partition. [Coding] turns the raw outputs in
// them into outputs y with |y| ≤ 1. [Select] ranks the candidates. A [FeatureSet] maps later rows
// to the M features through a [Transformer].
//
// # The life of a feature set
//
//	Candidates ─NewBank─▶ Bank ─Accumulator.Add per partition─▶ Sums ─Merge─▶ Sums
//	Sums ─Select─▶ Selection ─Draw(Selection.Index)─▶ FeatureSet ─NewTransformer─▶ Transformer
//
// A [Bank] keeps the candidates packed for the kernels.
//
// # Criteria
//
// [Select] ranks by sums alone. [SelectFrom] also supports the criteria that need the rows of a
// [Sample], which it scores again in memory ([Criterion.NeedsRows]).
//
// # Members
//
// A [Map], [Distribution], [Criterion] or [Task] is defined by a row in a table next to its
// constants; a test checks all rows.
//
// # Reproducibility
//
// The same rows in the same order give the same sums, bit for bit, independently of the sizes of
// the calls to [Accumulator.Add], the memory of the bank and GOMAXPROCS: every sum has one owner
// and grows in row order. Merge the sums of partitions in partition order. Equal scores rank by
// candidate index. Draws use this package's own logarithms and quantiles and no fused
// multiplications, so that architectures agree on the candidates. Features and sums follow one of
// two arithmetics: the vector instructions of x86, AVX2 and AVX-512 alike, round a product and its
// addition once; plain Go rounds both. [Arithmetic] names the current one. Sums of another
// arithmetic must not be continued.
//
// # Ownership and concurrency
//
// Rows are dense, row-major float32 and finite: encoders reject NaN and infinities. Inputs are
// neither kept nor changed. [Bank], [Transformer], [Candidates] and [FeatureSet] are safe for
// concurrent use once made; an [Accumulator] and its Sums belong to one goroutine. Large calls use
// up to GOMAXPROCS goroutines and return when all have ended. Wrong shapes are mistakes of the
// caller and panic with a message that begins with "scoring: "; unusable data gives an error.
package scoring
