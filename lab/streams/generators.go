package streams

import (
	"math"
	"math/rand/v2"
	"strconv"
)

// sea is from Street and Kim, A streaming ensemble algorithm for large-scale classification, KDD
// 2001: of three numbers from 0 to 10 the first two decide, by whether their sum is at most a
// threshold. A tenth of the classes is wrong.
func sea(rng *rand.Rand, _ bool) stream {
	return stream{numbered("x", 3), func(concept int) ([]float64, string) {
		x := []float64{10 * rng.Float64(), 10 * rng.Float64(), 10 * rng.Float64()}
		return x, either(rng, x[0]+x[1] <= [concepts]float64{8, 9, 7, 9.5}[concept], 0.1)
	}}
}

// hyperplane is from Hulten, Spencer and Domingos, Mining time-changing data streams, KDD 2001:
// points of a cube on either side of a plane through its middle. All ten weights move by a
// thousandth with each row, and turn back with probability .1. A twentieth of the classes is wrong.
func hyperplane(rng *rand.Rand, changes bool) stream {
	const dim = 10
	var weights, steps [dim]float64
	for i := range weights {
		weights[i], steps[i] = rng.Float64(), 0.001
	}
	return stream{numbered("x", dim), func(int) ([]float64, string) {
		x, side := make([]float64, dim), 0.0
		for i := range x {
			x[i] = rng.Float64()
			side += weights[i] * (x[i] - 0.5)
		}
		class := either(rng, side >= 0, 0.05)
		for i := range weights {
			turns := rng.Float64() < 0.1
			if changes {
				weights[i] += steps[i]
				if turns {
					steps[i] = -steps[i]
				}
			}
		}
		return x, class
	}}
}

// segments of the digits from 0 to 9: top, upper left, upper right, middle, lower left, lower
// right, bottom.
var segments = [10]string{
	"1110111", "0010010", "1011101", "1011011", "0111010", "1101011", "1101111", "1010010", "1111111", "1111011",
}

// led is from Breiman, Friedman, Olshen and Stone, Classification and Regression Trees, 1984: the
// seven segments of a digit, each wrong with probability .1, among 17 irrelevant ones. With each
// concept, some segments swap places with irrelevant ones.
func led(rng *rand.Rand, _ bool) stream {
	const all = 24
	return stream{numbered("s", all), func(concept int) ([]float64, string) {
		digit := rng.IntN(10)
		lit := make([]float64, all)
		for i := range lit {
			lit[i] = float64(rng.IntN(2))
		}
		for i, s := range segments[digit] {
			place := i
			if i < 2*concept { // two more with each concept
				place = all - 1 - i
			}
			lit[place] = float64(s - '0')
			if rng.Float64() < 0.1 {
				lit[place] = 1 - lit[place]
			}
		}
		return lit, "d" + strconv.Itoa(digit)
	}}
}

// agrawal is from Agrawal, Imielinski and Swami, Database mining: a performance perspective, IEEE
// TKDE 5 (1993): applicants for a loan, in the groups of the paper's functions 1, 2, 3 and 7. The
// deciding attributes are then perturbed by up to a twentieth of their range.
func agrawal(rng *rand.Rand, _ bool) stream {
	between := func(from, to float64) float64 { return from + (to-from)*rng.Float64() }
	columns := []string{"salary", "commission", "age", "elevel", "car", "zipcode", "hvalue", "hyears", "loan"}
	return stream{columns, func(concept int) ([]float64, string) {
		salary, commission := between(20_000, 150_000), 0.0
		if salary < 75_000 {
			commission = between(10_000, 75_000)
		}
		age := math.Floor(between(20, 81))
		level := float64(rng.IntN(5))
		zip := float64(rng.IntN(9))
		value := (9 - zip) * 100_000 * between(0.5, 1.5)
		loan := between(0, 500_000)
		inGroup := [concepts]bool{
			age < 40 || age >= 60,
			byAge(age, within(salary, 50_000, 100_000), within(salary, 75_000, 125_000), within(salary, 25_000, 75_000)),
			byAge(age, level <= 1, within(level, 1, 3), level >= 2),
			2*(salary+commission)/3-loan/5-20_000 > 0,
		}[concept]
		perturbed := func(v, from, to float64) float64 {
			return min(max(v+0.05*(to-from)*between(-1, 1), from), to)
		}
		if commission > 0 {
			commission = perturbed(commission, 10_000, 75_000)
		}
		values := []float64{
			perturbed(salary, 20_000, 150_000), commission, math.Round(perturbed(age, 20,
				80)), level, float64(1 + rng.IntN(20)), zip,
			perturbed(value, 0, 1_350_000), float64(1 + rng.IntN(30)), perturbed(loan, 0, 500_000),
		}
		return values, either(rng, inGroup, 0)
	}}
}

func within(v, from, to float64) bool { return from <= v && v <= to }

// byAge returns the condition for the young, the middle-aged or the old.
func byAge(age float64, young, middle, old bool) bool {
	switch {
	case age < 40:
		return young
	case age < 60:
		return middle
	}
	return old
}

// turn has normal numbers in two classes on either side of a plane. In the middle of the stream the
// largest coefficient changes its sign. A twenty-fifth of the classes is wrong.
func turn(rng *rand.Rand, _ bool) stream {
	coefficients := [8]float64{2, 1.4, -1.2, 1, -0.8, 0.6, -0.4, 0.2}
	return stream{numbered("x", len(coefficients)), func(concept int) ([]float64, string) {
		x, side := make([]float64, len(coefficients)), 0.0
		for i, c := range coefficients {
			x[i] = rng.NormFloat64()
			if i == 0 && concept >= concepts/2 {
				c = -c
			}
			side += c * x[i]
		}
		return x, either(rng, side >= 0, 0.04)
	}}
}
