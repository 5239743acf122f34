// Package messy generates a CSV file with the problems of real files: identifiers, dates, missing
// values under many names, typing errors in numeric columns, numbers written as text, hundreds of
// categories, rows sorted by class. Tests read it, and a script compares models on it with boosted
// trees.
package messy

import (
	"bufio"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"
)

// Labels of the file: Segment has five classes, by which the rows are sorted; Churned has two.
const (
	Segment = "Segment"
	Churned = "churned"
)

// Identifiers are the uninformative columns: a number without a name, like the index of a data
// frame, and a string.
func Identifiers() []string { return []string{"f0", "Customer ID"} }

// Columns are all columns except the identifiers and the labels, by their names after reading the
// header.
func Columns() []string {
	return []string{
		"Age", "Income, yearly", "Signup date", "last seen (UTC)", "Ort", "plan", "fee", "Rabatt", "active",
		"newsletter", "visits",
	}
}

// Segments returns the five classes of the first label.
func Segments() []string { return []string{"basic", "casual", "loyal", "new", "vip"} }

const (
	badEvery = 700 // rows between two typing errors
	cities   = 300
)

// header is the first line, with a byte order mark, an empty name and blanks.
const header = "\ufeff,Customer ID,  Age ,\"Income, yearly\",Signup date,last seen (UTC),Ort,plan,fee,Rabatt,active," +
	"newsletter,visits,Segment,churned\r\n"

// row is the fields of a customer.
type row struct {
	fields  []string
	segment int
}

// Write writes a header and rows, which depend only on the seed.
func Write(w io.Writer, rows int, seed uint64) error {
	buffered := bufio.NewWriter(w)
	if _, err := buffered.WriteString(header); err != nil {
		return err
	}
	table := csv.NewWriter(buffered)
	table.UseCRLF = true
	for _, r := range sorted(rows, seed) {
		if err := table.Write(r.fields); err != nil {
			return err
		}
	}
	table.Flush()
	if err := table.Error(); err != nil {
		return err
	}
	return buffered.Flush()
}

// sorted makes the rows and sorts them by class.
func sorted(rows int, seed uint64) []row {
	random := rand.New(rand.NewPCG(seed, 1))
	effect := make([]float64, cities) // effect of living in each city
	for i := range effect {
		effect[i] = random.NormFloat64()
	}
	all := make([]row, rows)
	for i := range all {
		all[i] = customer(i, random, effect)
	}
	slices.SortStableFunc(all, func(a, b row) int { return a.segment - b.segment })
	return all
}

// customer generates row number i.
func customer(i int, random *rand.Rand, effect []float64) row {
	age := 18 + 70*random.Float64()*random.Float64()
	income := math.Exp(10.4 + 0.5*random.NormFloat64())
	signup := time.Date(2019, 1, 1, 0, 0, 0, 0, time.UTC).AddDate(0, 0, random.IntN(2000))
	seen := signup.Add(time.Duration(random.Int64N(int64(400 * 24 * time.Hour)))).Truncate(time.Second)
	city := int(float64(cities) * math.Pow(random.Float64(), 3)) // some are large
	plan := random.IntN(4)
	fee := random.IntN(30)
	discount := random.IntN(20)
	active, newsletter := random.Float64() < 0.6, random.Float64() < 0.3
	visits := int(random.ExpFloat64() * 20)

	hour := float64(seen.Hour()) + float64(seen.Minute())/60
	years := float64(signup.Unix())/(365.25*86400) - 49 // since 2019
	night := math.Cos(2 * math.Pi * (hour - 2) / 24)
	season := math.Sin(2 * math.Pi * float64(signup.YearDay()) / 365)
	weekend := flag(seen.Weekday() == time.Saturday || seen.Weekday() == time.Sunday)
	rich := math.Log(income) - 10.4
	old := (age - 38) / 15
	often := math.Log1p(float64(visits)) - 2.5
	lives := 0.0
	member := flag(active)
	mail := flag(newsletter)
	if city < 50 {
		lives = effect[city] // small cities have no effect
	}
	utility := []float64{
		1.2*flag(plan == 0) - 1.5*rich + 0.3*night,
		1.4*weekend + 0.8*night - 0.5*often,
		0.9*old*old - 1.0*(years-2.7) + 0.8*member,
		1.3*(years-2.7) - 0.9*old + 0.5*season,
		1.8*rich + 0.9*often + 0.6*member*float64(plan-1),
	}
	segment, best := 0, math.Inf(-1)
	for k, u := range utility {
		u += 0.7 * random.NormFloat64()
		if u > best {
			segment, best = k, u
		}
	}
	logit := -0.4 + 0.9*lives + 0.05*float64(fee-15) - 0.08*float64(discount-10) -
		0.9*member + 0.7*math.Abs(old) + 0.8*night - 0.6*mail + 0.5*season
	churned := random.Float64() < 1/(1+math.Exp(-logit))

	words := []string{"", "NA", "n/a", "NaN", "None", "#N/A", "NULL", "<NA>", "null"}
	missing := func(share float64, s string) string {
		if random.Float64() < share {
			return words[random.IntN(len(words))]
		}
		return s
	}
	earns := missing(0.08, strconv.FormatFloat(income, 'f', 2, 64))
	if i%badEvery == 0 {
		earns = []string{"n.v.", "unknown", "12k"}[random.IntN(3)]
	}
	return row{segment: segment, fields: []string{
		strconv.Itoa(i), fmt.Sprintf("C-%07d", random.IntN(1e7)),
		missing(0.05, strconv.Itoa(int(age))), earns,
		missing(0.01, signup.Format(time.DateOnly)),
		missing(0.03, []string{
			seen.Format(time.RFC3339), seen.Format("2006-01-02 15:04:05.000"), seen.Format("2006-01-02T15:04Z"),
		}[random.IntN(3)]),
		missing(0.02, fmt.Sprintf("Stadt %03d", city)), missing(0.02, []string{"free", "small", "large", "team"}[plan]),
		fmt.Sprintf("€1,%03d.50", 20*fee), fmt.Sprintf("%d,5", discount),
		[]string{"no", "yes"}[int(member)], missing(0.04,
			[]string{"False", "True"}[int(mail)]), " " + strconv.Itoa(visits) + " ",
		Segments()[segment], strconv.Itoa(int(flag(churned))),
	}}
}

// flag returns 1 for true and 0 for false.
func flag(v bool) float64 {
	if v {
		return 1
	}
	return 0
}
