package config

import (
	"fmt"
	"io"
	"strings"
)

// Explain writes every key with its type, unit, default, environment variable and meaning, as text
// for a terminal. It is generated from the struct tags; [Keys] returns the same for other forms.
func Explain(w io.Writer) error {
	var b strings.Builder
	for _, key := range Keys() {
		kind := key.Type
		if key.Unit != "" && key.Type != typeSize {
			kind += ", " + key.Unit
		}
		if key.Range != "" {
			kind += ", " + key.Range
		}
		if key.Secret {
			kind += ", secret"
		}
		fmt.Fprintf(&b, "%s (%s; default %s; %s)\n", key.Name, kind, shown(key.Default, key.Secret), key.Env)
		fmt.Fprintf(&b, "    %s\n", key.Doc)
	}
	_, err := io.WriteString(w, b.String())
	return err
}
