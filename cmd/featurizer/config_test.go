package main

import (
	"strings"
	"testing"

	"github.com/eerf-stream/eerf/cmd/internal/cli"
	"github.com/eerf-stream/eerf/cmd/internal/clitest"
)

const threeFaults = `exploration:
  features: 100
  candidates: 50
  sample_rate: 2
train:
  intervall: 1m
`

func TestConfigCheckListsEveryFault(t *testing.T) {
	path := clitest.File(t, "eerf.yaml", threeFaults)
	r := fz(t, "config", "check", "-c", path).Want(t, cli.ExitUsage, "3 faults in the configuration",
		"exploration.features = 100", "exploration.sample_rate = 2", "train.intervall", "unknown key", "eerf.yaml:4")
	if r.Out != "" {
		t.Errorf("standard output %q", r.Out)
	}

	o := fz(t, "config", "check", "--json", "-c", path).Want(t, cli.ExitUsage, "3 faults").Object(t)
	if o["ok"] != false || len(o.At(t, "faults").([]any)) != 3 {
		t.Errorf("%v", o)
	}
	for _, fault := range o.At(t, "faults").([]any) {
		for _, key := range []string{"key", "bound", "source"} {
			if text, _ := fault.(map[string]any)[key].(string); text == "" {
				t.Errorf("a fault has no %s: %v", key, fault)
			}
		}
	}
	fz(t, "run", "-c", path).Want(t, cli.ExitUsage, "3 faults") // a service does not start either
}

func TestConfigCheckSumsMemory(t *testing.T) {
	t.Setenv("GOMEMLIMIT", "")
	small := []string{"config", "check", "--set", "topics.partitions=2", "--set", "kafka.batch_budget_bytes=8MiB",
		"--set", "limits.budget_bytes=8MiB", "--set", "kafka.fetch_memory=64MiB", "--set", "memory.messages=2",
		"--set", "featurize.output_memory=32MiB"}
	out := fz(t, append(small, "--stages", "featurize", "--set", "memory.limit=600MiB")...).Want(t, cli.ExitOK).Out
	for _, text := range []string{"with 2 partitions", "featurize: outputs", "540 MiB", "memory.limit"} {
		if !strings.Contains(out, text) {
			t.Errorf("lacks %q:\n%s", text, out)
		}
	}
	o := fz(t, append(small, "--json")...).Want(t, cli.ExitOK).Object(t)
	sum := 0.0
	for _, need := range o.At(t, "memory.needs").([]any) {
		sum += need.(map[string]any)["bytes"].(float64)
	}
	if all := o.Number(t, "memory.bytes"); all != sum || sum < 64<<20 {
		t.Errorf("%v, the needs are %v", all, sum)
	}
	over := []string{"1 fault", "memory.limit = 256MiB", "may need", "exploration.sample_memory"}
	fz(t, append(small, "--set", "memory.limit=256MiB")...).Want(t, cli.ExitUsage, over...)
	fz(t, append(small, "--set", "memory.limit=256MiB", "--stages", "calibrate", "--set", "memory.partitions=1")...).
		Want(t, cli.ExitUsage, "calibrate")
	fz(t, "run", "--set", "events.label=y", "--set", "memory.limit=256MiB").Want(t, cli.ExitUsage, over...)
	fz(t, "config", "check", "--stages", "guess").Want(t, cli.ExitUsage, `stage "guess"`)
}

func TestConfigCheckOfFollowingPipelineCountsFeaturizeOnly(t *testing.T) {
	live := clitest.File(t, "live.yaml", "pipeline: {name: live}\nfeaturize: {sets_from: shop}\n")
	o := fz(t, "config", "check", "-c", live, "--json").Want(t, cli.ExitOK).Object(t)
	if names := o.At(t, "memory.stages").([]any); len(names) != 1 || names[0] != "featurize" {
		t.Errorf("memory of stages %v", names)
	}
	if notes := o.At(t, "notes").([]any); !strings.Contains(notes[0].(string), "come from pipeline shop") {
		t.Errorf("notes %v", notes)
	}
	refusal := []string{"pipeline live", "pipeline shop", "featurize.sets_from", "stage train"}
	fz(t, "config", "check", "-c", live, "--stages", "featurize,train").Want(t, cli.ExitUsage, refusal...)
	fz(t, "run", "-c", live, "--stages", "train").Want(t, cli.ExitUsage, refusal...)
}
