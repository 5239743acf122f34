package crash

import (
	"fmt"
	"strings"
	"time"
)

// keys is the configuration of a schedule: small samples and short intervals, so that every process
// has work in progress. A process paused for longer than a session loses its partitions; the broker
// must allow such short sessions.
func keys(prefix string, plan *Plan, session time.Duration, brokers []string) map[string]any {
	values := map[string]any{
		"kafka.brokers":         strings.Join(brokers, ","),
		"kafka.session_timeout": session.String(), "kafka.heartbeat_interval": (session / 10).String(),
		"kafka.rebalance_timeout": (2 * session).String(), "kafka.leave_timeout": "500ms",
		"kafka.dial_timeout": "5s", "kafka.request_timeout": "10s",
		"kafka.fetch_max_wait": "250ms", "kafka.fetch_max_bytes": "8KiB",
		"kafka.partition_watch_interval": "1s", "shutdown.drain_timeout": "2s",
		"pipeline.name": prefix, "topics.partitions": fmt.Sprint(partitions),
		"events.label": "y", "events.exclude": "id", "events.passthrough": "id",
		"exploration.candidates":   "64",
		"exploration.features":     "8",
		"exploration.criterion":    plan.Criterion,
		"exploration.rounds":       "2",
		"exploration.refine_steps": "8",
		"exploration.members":      "4",
		"exploration.from":         string(plan.From), "exploration.sample_rows": fmt.Sprint(partitions * 200),
		"exploration.min_rows": fmt.Sprint(minRows), "exploration.calibration_rows": "60",
		"exploration.every_offsets": fmt.Sprint(everyOffsets),
		"subsample.checkpoint_rows": "60", "subsample.checkpoint_interval": "100ms",
		"featurize.max_output_bytes": fmt.Sprint(12 * (4*8 + 64)), "featurize.commit_interval": "50ms",
		"admin.listen": "", "train.interval": "200ms", "train.min_rows": "20",
	}
	for _, topic := range []string{
		"events",
		"explorations",
		"scores",
		"samples",
		"feature_sets",
		"features",
		"models",
		"live",
		"dead_letters",
	} {
		values["topics."+topic] = prefix + "-" + strings.ReplaceAll(topic, "_", "-")
	}
	return values
}

// arguments are the keys as arguments of a program.
func arguments(values map[string]any) (args []string) {
	for key, value := range values {
		args = append(args, "--set", fmt.Sprint(key, "=", value))
	}
	return args
}
