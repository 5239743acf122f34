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

func newSpeed() *cobra.Command {
	var duration, every time.Duration
	var programs string
	c := &cobra.Command{
		Use:     "speed",
		Short:   "Run the programs at full speed and watch memory, goroutines and lag",
		Example: "  soak speed --duration 30m",
		Args:    cobra.NoArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return runSpeed(c.Context(), programs, duration, every) },
	}
	c.Flags().DurationVar(&duration, "duration", 30*time.Minute, "how long")
	c.Flags().DurationVar(&every, "every", 5*time.Second, "time between two samples")
	c.Flags().StringVar(&programs, "programs", "", "folder with featurizer, trainer and soak; empty = build them")
	return c
}

// printed is how many samples are printed.
const printed = 20

func runSpeed(ctx context.Context, built string, duration, every time.Duration) error {
	dir, err := os.MkdirTemp("", "eerf-speed-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	programs := crash.Programs(built)
	if built == "" {
		if programs, err = crash.Build(ctx, dir, ""); err != nil {
			return err
		}
	}
	broker, err := crash.StartEmbedded(ctx, programs, dir, 1500*time.Millisecond)
	if err != nil {
		return err
	}
	defer broker.Close()
	const row = "%8s %10s %28s %18s  %s\n"
	fmt.Printf(row, "time", "rows/s", "MiB featurizer/trainer/broker", "goroutines", "lag, messages")
	seen := 0
	speed := crash.Speed{Programs: programs, Broker: broker, Dir: dir, Duration: duration, Every: every}
	speed.Report = func(s crash.Sample) {
		if seen++; seen%max(1, int(duration/every)/printed) != 0 {
			return
		}
		fmt.Printf(row, s.At.Round(time.Second), fmt.Sprintf("%.0f", s.RowsPerSec),
			fmt.Sprintf("%d/%d/%d", s.Resident["featurizer"]>>20, s.Resident["trainer"]>>20, s.Resident["broker"]>>20),
			fmt.Sprintf("%d/%d", s.Goroutines["featurizer"], s.Goroutines["trainer"]), fmt.Sprint(s.Lag))
	}
	samples, err := speed.Run(ctx)
	if err != nil {
		return err
	}
	summarize(samples)
	return crash.Judge(samples)
}

// summarize prints a summary of the samples.
func summarize(samples []crash.Sample) {
	var rates []float64
	for _, s := range samples {
		rates = append(rates, s.RowsPerSec)
	}
	slices.Sort(rates)
	if len(rates) > 0 {
		fmt.Printf("\n%d samples; rows/s: median %.0f, from %.0f to %.0f\n", len(rates), rates[len(rates)/2], rates[0], rates[len(rates)-1])
	}
}
