package main

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/perf/benchfmt"
)

// key is one part of a sub-benchmark's name.
type key struct{ name, value string }

// line is a benchmark with the measurements of its rounds.
type line struct {
	pkg   string // the import path within the module
	cpu   string
	name  string               // includes the parts that are not keys
	keys  []key                // without procs and by
	procs int                  // 0 if the name has no procs
	by    string               // the other program that measured it, or ""
	units []string             // in the order of the output
	round map[string][]float64 // by unit
}

// get returns the value of a key, "" if it is missing.
func (l *line) get(name string) string {
	for _, k := range l.keys {
		if k.name == name {
			return k.value
		}
	}
	return ""
}

// full returns the full name: package.Name/key=value/procs=1.
func (l *line) full() string {
	full := l.pkg + "." + l.name
	for _, k := range l.keys {
		full += "/" + k.name + "=" + k.value
	}
	if l.procs > 0 {
		full += fmt.Sprintf("/procs=%d", l.procs)
	}
	return full
}

// readFiles returns the benchmarks of the files, or of the standard input, in the order of their
// first rounds.
func readFiles(paths []string) ([]*line, error) {
	files := benchfmt.Files{Paths: paths, AllowStdin: true}
	var lines []*line
	seen := map[string]*line{}
	for files.Scan() {
		switch r := files.Result().(type) {
		case *benchfmt.SyntaxError:
			return nil, r
		case *benchfmt.Result:
			l := newLine(r)
			id := l.full() + "/by=" + l.by
			if known, ok := seen[id]; ok {
				l = known
			} else {
				seen[id] = l
				lines = append(lines, l)
			}
			l.add(r.Values)
		}
	}
	return lines, files.Err()
}

// newLine parses the name of a result.
func newLine(r *benchfmt.Result) *line {
	base, parts := r.Name.Parts()
	l := &line{
		pkg:   packageName(r.GetConfig("pkg")),
		cpu:   r.GetConfig("cpu"),
		name:  string(base),
		round: map[string][]float64{},
	}
	for _, part := range parts {
		l.addPart(string(part))
	}
	l.by = l.take("by")
	l.procs, _ = strconv.Atoi(l.take("procs")) // 0 for anything but a number
	return l
}

// addPart parses one part of a name: "/key=value" or "/word". It ignores the "-2" of GOMAXPROCS,
// which is the number of available processors, not of used ones.
func (l *line) addPart(part string) {
	if strings.HasPrefix(part, "-") {
		return
	}
	name, value, ok := strings.Cut(part[1:], "=")
	if !ok {
		l.name += part
		return
	}
	l.keys = append(l.keys, key{name, value})
}

// take removes a key and returns its value, "" if it is missing.
func (l *line) take(name string) string {
	value := l.get(name)
	l.keys = slices.DeleteFunc(l.keys, func(k key) bool { return k.name == name })
	return value
}

// add appends one round.
func (l *line) add(values []benchfmt.Value) {
	for _, v := range values {
		if _, ok := l.round[v.Unit]; !ok {
			l.units = append(l.units, v.Unit)
		}
		l.round[v.Unit] = append(l.round[v.Unit], v.Value)
	}
}

// packageName shortens an import path to the part within the module.
func packageName(importPath string) string {
	const module = "github.com/eerf-stream/eerf/"
	if below, ok := strings.CutPrefix(importPath, module); ok {
		return below
	}
	return path.Base(importPath)
}
