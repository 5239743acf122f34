package importgraph

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// Check returns one line of text for every import of g that breaks the rules, in the order of g.
func Check(g *Graph, rules Rules) []string {
	var violations []string
	for _, i := range g.Imports {
		if why := rules.fault(g.Module, i); why != "" {
			violations = append(violations, fmt.Sprintf("%s:%d: import of %s: %s", i.File, i.Line, i.To, why))
		}
	}
	return violations
}

// fault says why an import breaks the rules; empty = it does not.
func (r Rules) fault(module string, i Import) string {
	fromName := r.place(i.From)
	from, known := r[fromName]
	if !known {
		return fmt.Sprintf("folder %s has no place in the import order", fromName)
	}
	if inside, ok := below(i.To, module); ok {
		return r.insideFault(fromName, from, r.place(inside), i.Test)
	}
	if i.Test || isStandard(i.To) {
		return ""
	}
	if from.OnlyModules != nil && !covered(from.OnlyModules, i.To) {
		return fmt.Sprintf("%s imports the standard library and %s only", fromName, strings.Join(from.OnlyModules, ", "))
	}
	if covered(from.NoModules, i.To) {
		return fmt.Sprintf("%s is not to know that module", fromName)
	}
	return ""
}

// insideFault judges an import from one folder of the module to another.
func (r Rules) insideFault(fromName string, from Folder, toName string, test bool) string {
	to, known := r[toName]
	switch {
	case fromName == toName:
		return ""
	case !known:
		return fmt.Sprintf("folder %s has no place in the import order", toName)
	case to.Rank < from.Rank:
		return ""
	case to.Rank > from.Rank:
		return fmt.Sprintf("imports flow from %s to %s, not back", toName, fromName)
	case test || slices.Contains(from.Sideways, toName):
		return ""
	default:
		return fmt.Sprintf("%s and %s stand side by side and do not know each other", fromName, toName)
	}
}

// place is the name of the rule for a folder: the longest beginning of its path that has one, else its first element.
func (r Rules) place(folder string) string {
	for at := folder; strings.Contains(at, "/"); at = path.Dir(at) {
		if _, ok := r[at]; ok {
			return at
		}
	}
	return top(folder)
}

// top is the first element of a path.
func top(folder string) string {
	first, _, _ := strings.Cut(folder, "/")
	return first
}

// below returns what follows base in an import path, "." for base itself, and whether the path lies there.
func below(importPath, base string) (string, bool) {
	if importPath == base {
		return ".", true
	}
	return strings.CutPrefix(importPath, base+"/")
}

func covered(bases []string, importPath string) bool {
	return slices.ContainsFunc(bases, func(base string) bool {
		_, ok := below(importPath, base)
		return ok
	})
}

// isStandard reports whether a path belongs to the standard library: those have no dot in their first element.
func isStandard(importPath string) bool {
	return !strings.Contains(top(importPath), ".")
}
