package crash

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Sample is one measurement of the processes of a soak.
type Sample struct {
	At         time.Duration
	RowsPerSec float64          // sent since the last sample
	Resident   map[string]int64 // bytes, by program
	Goroutines map[string]int64
	Lag        map[string]int64 // messages, over all partitions, by stage
}

// watch samples until ctx ends.
func (s *Speed) watch(ctx context.Context, processes []*watched) ([]Sample, error) {
	var samples []Sample
	began, last, sent := time.Now(), time.Now(), int64(0)
	for sleep(ctx, s.Every) {
		sample := Sample{At: time.Since(began), Resident: map[string]int64{}, Goroutines: map[string]int64{}, Lag: map[string]int64{}}
		rows := s.sent.Load()
		sample.RowsPerSec = float64(rows-sent) / time.Since(last).Seconds()
		last, sent = time.Now(), rows
		for _, w := range processes {
			if w.process.ended() {
				return samples, fmt.Errorf("%s ended by itself: %w\n%s", w.name, w.process.err, w.process.tail())
			}
			sample.Resident[w.name] = residentBytes(w.process.cmd.Process.Pid)
			if err := w.look(ctx, &sample); err != nil && ctx.Err() == nil {
				return samples, err
			}
		}
		if b, ok := s.Broker.(*embeddedBroker); ok {
			sample.Resident["broker"] = residentBytes(b.process.cmd.Process.Pid)
		}
		if ctx.Err() != nil {
			break
		}
		samples = append(samples, sample)
		s.Report(sample)
	}
	return samples, nil
}

// look reads the metrics of a process.
func (w *watched) look(ctx context.Context, sample *Sample) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+w.address+"/metrics", http.NoBody)
	if err != nil {
		return err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return fmt.Errorf("metrics of %s: %w", w.name, err)
	}
	defer answer.Body.Close()
	lines := bufio.NewScanner(answer.Body)
	for lines.Scan() {
		name, value, _ := strings.Cut(lines.Text(), " ")
		number, err := strconv.ParseFloat(value, 64)
		if err != nil {
			continue
		}
		switch metric, labels, _ := strings.Cut(name, "{"); metric {
		case "go_goroutines":
			sample.Goroutines[w.name] = int64(number)
		case "eerf_lag_messages":
			_, stage, _ := strings.Cut(labels, `stage="`)
			stage, _, _ = strings.Cut(stage, `"`)
			sample.Lag[stage] += int64(number)
		}
	}
	return lines.Err()
}

// What may increase between the middle third and the last third of a soak without counting as growth.
const (
	residentSlack   = 1.1
	goroutinesSlack = 8
)

// Judge reports what grew: it compares the greatest value of the last third of the samples with that of the middle
// third.
func Judge(samples []Sample) error {
	third := len(samples) / 3
	if third == 0 {
		return errors.New("too few samples to judge")
	}
	middle, last := samples[third:2*third], samples[2*third:]
	var faults []error
	for name := range last[0].Resident {
		resident := func(s Sample) int64 { return s.Resident[name] }
		if before, after := greatest(middle, resident), greatest(last, resident); float64(after) > residentSlack*float64(before) {
			faults = append(faults, fmt.Errorf("%s: resident set grew from %d to %d MiB", name, before>>20, after>>20))
		}
		goroutines := func(s Sample) int64 { return s.Goroutines[name] }
		if before, after := greatest(middle, goroutines), greatest(last, goroutines); after > before+goroutinesSlack {
			faults = append(faults, fmt.Errorf("%s: goroutines grew from %d to %d", name, before, after))
		}
	}
	featurize := func(s Sample) int64 { return s.Lag["featurize"] }
	if lag := greatest(samples, featurize); lag > speedPartitions*(speedWindow+speedWindow/4) {
		faults = append(faults, fmt.Errorf("featurize: a lag of %d messages", lag))
	}
	return errors.Join(faults...)
}

func greatest(samples []Sample, of func(Sample) int64) (most int64) {
	for _, s := range samples {
		most = max(most, of(s))
	}
	return most
}
