package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/eerf-stream/eerf/internal/crash"
)

func newPace() *cobra.Command {
	var rounds int
	var duration time.Duration
	c := &cobra.Command{
		Use:   "pace BEFORE AFTER",
		Short: "Compare rows per second and delay of two builds of the featurizer, in turns",
		Long: `pace runs the featurizer of two folders with programs in turns, each time on a fresh embedded broker of the second, and
compares how many rows it takes in a second, and how long messages take from their sending to their features where
there is little to do. Ratios are of runs that follow each other.`,
		Example: "  make before-after BEFORE=v0.1.0",
		Args:    cobra.ExactArgs(2),
		RunE: func(c *cobra.Command, programs []string) error {
			return comparePace(c.Context(), crash.Programs(programs[0]), crash.Programs(programs[1]), rounds, duration)
		},
	}
	c.Flags().IntVar(&rounds, "rounds", 5, "runs of each")
	c.Flags().DurationVar(&duration, "duration", 10*time.Second, "of the part in which messages come one by one")
	return c
}

// ratios are measurements after divided by those before.
type ratios struct{ rows, p50, p99 []float64 }

func comparePace(ctx context.Context, before, after crash.Programs, rounds int, duration time.Duration) error {
	const row = "%-6s %-7s %12s %10s %10s\n"
	fmt.Printf(row, "round", "", "rows/s", "p50", "p99")
	var all ratios
	for round := range rounds {
		order := []crash.Programs{before, after}
		if round%2 == 1 {
			slices.Reverse(order)
		}
		results := map[crash.Programs]crash.Paced{}
		for _, programs := range order {
			result, err := pace(ctx, programs, after, duration)
			if err != nil {
				return err
			}
			results[programs] = result
		}
		for i, programs := range []crash.Programs{before, after} {
			r := results[programs]
			fmt.Printf(row, fmt.Sprint(round+1), []string{"before", "after"}[i], fmt.Sprintf("%.0f", r.RowsPerSec), r.P50.Round(10*time.Microsecond), r.P99.Round(10*time.Microsecond))
		}
		b, a := results[before], results[after]
		all.rows = append(all.rows, a.RowsPerSec/b.RowsPerSec)
		all.p50 = append(all.p50, a.P50.Seconds()/b.P50.Seconds())
		all.p99 = append(all.p99, a.P99.Seconds()/b.P99.Seconds())
	}
	fmt.Printf("\nafter / before, medians: rows/s %.3f, p50 %.3f, p99 %.3f\n", median(all.rows), median(all.p50), median(all.p99))
	return nil
}

func median(values []float64) float64 {
	slices.Sort(values)
	return (values[(len(values)-1)/2] + values[len(values)/2]) / 2
}

// pace measures some programs on the embedded broker of others.
func pace(ctx context.Context, programs, brokers crash.Programs, duration time.Duration) (crash.Paced, error) {
	dir, err := os.MkdirTemp("", "eerf-pace-")
	if err != nil {
		return crash.Paced{}, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	broker, err := crash.StartEmbedded(ctx, brokers, dir, 1500*time.Millisecond)
	if err != nil {
		return crash.Paced{}, err
	}
	defer broker.Close()
	return (&crash.Pace{Programs: programs, Broker: broker, Dir: dir, Duration: duration}).Run(ctx)
}
