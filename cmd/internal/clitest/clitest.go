// Package clitest runs commands inside a test as a shell would, and provides brokers for them.
package clitest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/eerf-stream/eerf/cmd/internal/cli"
	"github.com/eerf-stream/eerf/stages/stagestest"
)

// Patience bounds how long a command in a test may take on a busy machine.
const Patience = 5 * time.Minute

// Result is the outcome of a command.
type Result struct {
	Args     []string
	Code     int
	Out, Err string
}

// Run runs a command line; root makes a new command.
func Run(t testing.TB, root func() *cobra.Command, args ...string) Result {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), Patience)
	defer cancel()
	return RunContext(ctx, root, args...)
}

// RunContext is Run until ctx ends, which stands for a signal.
func RunContext(ctx context.Context, root func() *cobra.Command, args ...string) Result {
	var out, errs bytes.Buffer
	c := root()
	c.SetArgs(args)
	c.SetOut(&out)
	c.SetErr(&errs)
	code := cli.Execute(ctx, c)
	return Result{Args: args, Code: code, Out: out.String(), Err: errs.String()}
}

// Want fails the test unless the command ended with the code and its error stream contains every
// text.
func (r Result) Want(t testing.TB, code int, texts ...string) Result {
	t.Helper()
	if r.Code != code {
		t.Fatalf("%s: exit code %d, want %d\n%s%s", strings.Join(r.Args, " "), r.Code, code, r.Out, r.Err)
	}
	for _, text := range texts {
		if !strings.Contains(r.Err, text) {
			t.Errorf("%s: standard error lacks %q:\n%s", strings.Join(r.Args, " "), text, r.Err)
		}
	}
	return r
}

// Object decodes standard output, which must be one JSON object and nothing else.
func (r Result) Object(t testing.TB) Object {
	t.Helper()
	decoder := json.NewDecoder(strings.NewReader(r.Out))
	var o Object
	if err := decoder.Decode(&o); err != nil {
		t.Fatalf("%s: standard output is not a JSON object: %v\n%s", strings.Join(r.Args, " "), err, r.Out)
	}
	if err := decoder.Decode(new(any)); !errors.Is(err, io.EOF) {
		t.Fatalf("%s: standard output has more than one JSON value:\n%s", strings.Join(r.Args, " "), r.Out)
	}
	return o
}

// Object is a decoded JSON object.
type Object map[string]any

// At returns the value at a dotted path.
func (o Object) At(t testing.TB, path string) any {
	t.Helper()
	var at any = map[string]any(o)
	for name := range strings.SplitSeq(path, ".") {
		object, ok := at.(map[string]any)
		if !ok || object[name] == nil {
			t.Fatalf("no %q in %v", path, o)
		}
		at = object[name]
	}
	return at
}

// Number returns the number at a dotted path.
func (o Object) Number(t testing.TB, path string) float64 {
	t.Helper()
	v, ok := o.At(t, path).(float64)
	if !ok {
		t.Fatalf("%q is not a number: %v", path, o.At(t, path))
	}
	return v
}

// Text returns the text at a dotted path.
func (o Object) Text(t testing.TB, path string) string {
	t.Helper()
	v, ok := o.At(t, path).(string)
	if !ok {
		t.Fatalf("%q is not text: %v", path, o.At(t, path))
	}
	return v
}

// Broker starts an embedded broker for the test and returns its address.
func Broker(t testing.TB) string {
	t.Helper()
	return stagestest.NewBroker(t).Addr()
}

// File writes a file into a temporary directory of the test and returns its path.
func File(t testing.TB, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// Eventually fails the test unless ok holds within Patience. It polls, as a person waiting for
// another process would.
func Eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(Patience); !ok(); <-tick.C {
		if time.Now().After(deadline) {
			t.Fatalf("did not happen within %v: %s", Patience, what)
		}
	}
}

// Mixed returns a CSV file with rows of numbers, strings, booleans and nulls with a label, churned,
// that depends on them in a nonlinear way.
func Mixed(rows int) string {
	var b strings.Builder
	b.WriteString("age,city,member,income,churned\n")
	cities := []string{"Rome", "Oslo", "Paris", ""}
	for i := range rows {
		age := 18 + i*7%60
		city := cities[i*5%11%4]
		member := i*13%7 < 3
		income := 900 + i*31%1201
		churned := age > 45 && city == "Rome" || member && income > 1500
		ageText := fmt.Sprint(age)
		if i%29 == 0 {
			ageText = ""
		}
		fmt.Fprintf(&b, "%s,%s,%t,%d,%t\n", ageText, city, member, income, churned)
	}
	return b.String()
}
