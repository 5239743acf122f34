package crash

import (
	"fmt"
	"os"
	"sort"
	"strings"
	"time"

	"github.com/eerf-stream/eerf/config"
)

// timing sets the times of a schedule's programs. A process paused for longer than session loses its
// partitions.
type timing struct {
	session, heartbeat, rebalance, drain, leave time.Duration
}

// quickTiming keeps schedules short. A broker must allow such short sessions.
var quickTiming = timing{
	session: 1500 * time.Millisecond, heartbeat: 150 * time.Millisecond, rebalance: 3 * time.Second,
	drain: 2 * time.Second, leave: 500 * time.Millisecond,
}

// keys is the configuration of a schedule: small samples, and always something to save, send or cut.
func keys(prefix string, plan *Plan, t timing, brokers []string) map[string]any {
	values := map[string]any{
		"kafka.brokers":         strings.Join(brokers, ","),
		"kafka.session_timeout": t.session.String(), "kafka.heartbeat_interval": t.heartbeat.String(),
		"kafka.rebalance_timeout": t.rebalance.String(), "kafka.leave_timeout": t.leave.String(),
		"kafka.dial_timeout": "5s", "kafka.request_timeout": "10s",
		"kafka.fetch_max_wait": "250ms", "kafka.fetch_max_bytes": "8KiB",
		"kafka.partition_watch_interval": "1s", "shutdown.drain_timeout": t.drain.String(),
		"pipeline.name": prefix, "topics.partitions": fmt.Sprint(partitions),
		"events.label": "y", "events.exclude": "id", "events.passthrough": "id",
		"exploration.candidates": "64", "exploration.features": "8", "exploration.criterion": plan.Criterion, "exploration.rounds": "2", "exploration.refine_steps": "8",
		"exploration.from": string(plan.From), "exploration.sample_rows": fmt.Sprint(partitions * 200),
		"exploration.min_rows": fmt.Sprint(minRows), "exploration.calibration_rows": "60",
		"exploration.every_offsets": fmt.Sprint(everyOffsets),
		"subsample.checkpoint_rows": "60", "subsample.checkpoint_interval": "100ms",
		"featurize.max_output_bytes": fmt.Sprint(12 * (4*8 + 64)), "featurize.commit_interval": "50ms",
		"admin.listen": "", "train.interval": "200ms", "train.min_rows": "20",
	}
	for _, topic := range []string{"events", "explorations", "scores", "samples", "feature_sets", "features", "models", "dead_letters"} {
		values["topics."+topic] = prefix + "-" + strings.ReplaceAll(topic, "_", "-")
	}
	return values
}

// load reads keys as the programs will.
func load(values map[string]any) (*config.Config, error) { return config.Load("", values) }

// writeConfig writes keys as a file.
func writeConfig(path string, values map[string]any) error {
	sections := map[string][]string{}
	for key, value := range values {
		section, name, _ := strings.Cut(key, ".")
		switch key {
		case "kafka.brokers", "events.label", "events.exclude", "events.passthrough":
			value = fmt.Sprintf("[%s]", value)
		}
		if value == "" {
			value = `""`
		}
		sections[section] = append(sections[section], fmt.Sprintf("  %s: %v\n", name, value))
	}
	var text strings.Builder
	for section, lines := range sections {
		sort.Strings(lines)
		fmt.Fprintf(&text, "%s:\n%s", section, strings.Join(lines, ""))
	}
	return os.WriteFile(path, []byte(text.String()), 0o600)
}
