// Command file writes the messy file.
package main

import (
	"flag"
	"fmt"
	"os"

	"github.com/eerf-stream/eerf/cmd/internal/messy"
)

func main() {
	rows := flag.Int("rows", 50_000, "rows to write")
	seed := flag.Uint64("seed", 1, "seed of the rows")
	flag.Parse()
	if err := messy.Write(os.Stdout, *rows, *seed); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
