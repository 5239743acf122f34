package config

import (
	"errors"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/eerf-stream/eerf/scoring"
	"github.com/eerf-stream/eerf/stages/train"
)

// validityOf validates a configuration that must be refused.
func validityOf(t *testing.T, c *Config) Faults {
	t.Helper()
	var faults Faults
	if err := c.Validate(); !errors.As(err, &faults) {
		t.Fatalf("error %v, want faults", err)
	}
	return faults
}

func TestRules(t *testing.T) {
	low, high := 1.0, 2.0
	tests := []struct {
		name string
		set  func(*Config)
		key  string
		want string
	}{
		{"no brokers", func(c *Config) { c.Kafka.Brokers = nil }, "kafka.brokers", "at least one"},
		{"broker without a port", func(c *Config) { c.Kafka.Brokers = []string{"kafka"} }, "kafka.brokers", "host:port"},
		{"heartbeat too slow", func(c *Config) { c.Kafka.HeartbeatInterval = 9 * time.Second }, "kafka.heartbeat_interval", "a third of session_timeout"},
		{"no such format", func(c *Config) { c.Stages.Events.Format = "xml" }, "events.format", "want one of auto"},
		{"schema of JSON", func(c *Config) { c.Stages.Events.Format, c.Stages.Events.Schema = "json", "a.avsc" }, "events.schema", "avro or protobuf"},
		{"address of no registry", func(c *Config) { c.Registry.URL = []string{"registry:8081"} }, "registry.url", "http://"},
		{"token in the open", func(c *Config) { c.Registry.URL, c.Registry.TokenFile = []string{"http://registry"}, "t" }, "registry.url", "allow_plaintext"},
		{"TLS keys without TLS", func(c *Config) { c.Kafka.TLS.CAFile = "ca.pem" }, "kafka.tls.enabled", "false"},
		{"password without mechanism", func(c *Config) { c.Kafka.SASL.User, c.Kafka.SASL.Password = "u", "p" }, "kafka.sasl.mechanism", "not one of"},
		{"budget below the largest message", func(c *Config) {
			c.Kafka.FetchMaxBytes, c.Kafka.BatchBudgetBytes, c.Stages.Limits.MaxMessageBytes = 1<<20, 7<<20, 1<<20
		}, "kafka.batch_budget_bytes", "topics.max_message_bytes (8388608)"},
		{"budget below the limit", func(c *Config) { c.Stages.Limits.MaxMessageBytes, c.Stages.Limits.BudgetBytes = 65<<20, 65<<20 }, "kafka.batch_budget_bytes", "limits.max_message_bytes"},

		{"pipeline without a name", func(c *Config) { c.Stages.Pipeline.Name = "" }, "pipeline.name", "1 to 64"},
		{"pipeline in capitals", func(c *Config) { c.Stages.Pipeline.Name = "Fraud" }, "pipeline.name", "a-z"},
		{"pipeline with a long name", func(c *Config) { c.Stages.Pipeline.Name = strings.Repeat("a", 65) }, "pipeline.name", "64"},

		{"topic name with a blank", func(c *Config) { c.Stages.Topics.Models = "my models" }, "topics.models", "1 to 249"},
		{"topic name of a folder", func(c *Config) { c.Stages.Topics.Models = ".." }, "topics.models", "1 to 249"},
		{"one topic for two", func(c *Config) { c.Stages.Topics.Scores = c.Stages.Topics.Events }, "topics.scores", "is the topic of topics.events"},
		{"no partitions", func(c *Config) { c.Stages.Topics.Partitions = 0 }, "topics.partitions", "1 or more"},
		{"negative replication", func(c *Config) { c.Stages.Topics.Replication = -1 }, "topics.replication", "0 (the broker's default)"},
		{"messages beyond Kafka's largest", func(c *Config) { c.Stages.Topics.MaxMessageBytes = 1 << 31 }, "topics.max_message_bytes", "2147483647"},
		{"no retention", func(c *Config) { c.Stages.Topics.FeaturesRetention = 0 }, "topics.features_retention", "above 0"},
		{"no feature set kept", func(c *Config) { c.Stages.Topics.KeepFeatureSets = 0 }, "topics.keep_feature_sets", "1 or more"},
		{"no model kept", func(c *Config) { c.Stages.Topics.KeepModels = 0 }, "topics.keep_models", "1 or more"},

		{"unknown task", func(c *Config) { c.Stages.Events.Task = "ranking" }, "events.task", "not one of"},
		{"unknown standardization", func(c *Config) { c.Stages.Events.Standardize = "some" }, "events.standardize", "not one of"},
		{"unknown treatment of NaN", func(c *Config) { c.Stages.Events.NaN = "zero" }, "events.nan", "not one of"},
		{"share of missing values", func(c *Config) { c.Stages.Events.MissingIndicator = 2 }, "events.missing_indicator", "not in"},
		{"negative clip", func(c *Config) { c.Stages.Events.Clip = -1 }, "events.clip", "not in"},
		{"one class", func(c *Config) { c.Stages.Events.Label, c.Stages.Events.Classes = []string{"y"}, []string{"a"} }, "events.classes", "1 names"},
		{"class twice", func(c *Config) { c.Stages.Events.Label, c.Stages.Events.Classes = []string{"y"}, []string{"a", "a"} }, "events.classes", "twice"},
		{"label among the features", func(c *Config) { c.Stages.Events.Label, c.Stages.Events.Features = []string{"y"}, []string{"y"} }, "events.label", "both in label and features"},
		{"logarithm of a class", func(c *Config) {
			c.Stages.Events.Label, c.Stages.Events.Task, c.Stages.Events.LabelTransform = []string{"y"}, "classification", "log"
		}, "events.label_transform", "for regression"},
		{"unknown transform", func(c *Config) { c.Stages.Events.LabelTransform = "root" }, "events.label_transform", "not one of"},
		{"classes with two labels", func(c *Config) { c.Stages.Events.Label, c.Stages.Events.Task = []string{"y", "z"}, "classification" }, "events.label", "takes one"},
		{"classes of a regression", func(c *Config) {
			c.Stages.Events.Label, c.Stages.Events.Task, c.Stages.Events.Classes = []string{"y"}, "regression", []string{"a", "b"}
		}, "events.classes", "regression"},
		{"bounds crossed", func(c *Config) {
			c.Stages.Events.Label, c.Stages.Events.LabelMin, c.Stages.Events.LabelMax = []string{"y"}, &high, &low
		}, "events.label_min", "above label_max"},

		{"distribution of another map", func(c *Config) {
			c.Stages.Exploration.Map, c.Stages.Exploration.Distribution = scoring.MapLinear, scoring.Cauchy
		}, "exploration.map", "want one of [gaussian]"},
		{"negative bandwidth", func(c *Config) { c.Stages.Exploration.Sigma = -1 }, "exploration.sigma", "nearest-neighbour"},
		{"bandwidth that is no number", func(c *Config) { c.Stages.Exploration.Sigma = math.NaN() }, "exploration.sigma", "finite"},
		{"steps below zero", func(c *Config) { c.Stages.Exploration.RefineSteps = -1 }, "exploration.refine_steps", "0 for rounds alone"},
		{"steps beyond all", func(c *Config) { c.Stages.Exploration.RefineSteps = 1001 }, "exploration.refine_steps", "1 to 1000"},
		{"learning for another map", func(c *Config) {
			c.Stages.Exploration.Criterion, c.Stages.Exploration.Map = scoring.Adaptive, scoring.MapArcCosine1
		}, "exploration.criterion", "feature map cosine, not arccos1"},
		{"learning from another distribution", func(c *Config) {
			c.Stages.Exploration.Criterion, c.Stages.Exploration.Distribution = scoring.Adaptive, scoring.Cauchy
		}, "exploration.criterion", "distribution gaussian, not cauchy"},
		{"no rounds", func(c *Config) { c.Stages.Exploration.Rounds = 0 }, "exploration.rounds", "1 or more"},
		{"no features", func(c *Config) { c.Stages.Exploration.Features = 0 }, "exploration.features", "1 or more"},
		{"negative candidates", func(c *Config) { c.Stages.Exploration.Candidates = -1 }, "exploration.candidates", "ten times"},
		{"M above M0", func(c *Config) { c.Stages.Exploration.Candidates = 499 }, "exploration.features", "at most exploration.candidates (499)"},
		{"unknown kernel", func(c *Config) { c.Stages.Exploration.Kernel = "fast" }, "exploration.kernel", "auto, plain"},
		{"unknown part of the log", func(c *Config) { c.Stages.Exploration.From = "noon" }, "exploration.from", "recent, earliest, next"},
		{"no window", func(c *Config) { c.Stages.Exploration.Window = 0 }, "exploration.window", "1 or more"},
		{"no bytes in the window", func(c *Config) { c.Stages.Exploration.WindowBytes = 0 }, "exploration.window_bytes", "1 byte or more"},
		{"negative rate", func(c *Config) { c.Stages.Exploration.SampleRate = -0.1 }, "exploration.sample_rate", "above 0"},
		{"rate above one", func(c *Config) { c.Stages.Exploration.SampleRate = 1.1 }, "exploration.sample_rate", "at most 1"},
		{"sample of nothing", func(c *Config) { c.Stages.Exploration.SampleRows = 0 }, "exploration.sample_rows", "1 or more"},
		{"rows of a class", func(c *Config) { c.Stages.Events.ClassMinRows = -1 }, "events.class_min_rows", "0 or more"},
		{"plan of nothing", func(c *Config) { c.Stages.Exploration.MinRows = 0 }, "exploration.min_rows", "1 or more"},
		{"window too small to plan", func(c *Config) { c.Stages.Exploration.Window = 1999 }, "exploration.min_rows", "at most exploration.window (1999)"},
		{"sample that takes too much memory", func(c *Config) { c.Stages.Exploration.SampleMemory = 1 << 20 }, "exploration.sample_rows", "exploration.sample_memory is 1.0 MiB"},
		{"one calibration row", func(c *Config) { c.Stages.Exploration.CalibrationRows = 1 }, "exploration.calibration_rows", "2 or more"},
		{"negative schedule", func(c *Config) { c.Stages.Exploration.Every = -1 }, "exploration.every", "never by time"},
		{"negative offsets", func(c *Config) { c.Stages.Exploration.EveryOffsets = -1 }, "exploration.every_offsets", "never by offsets"},

		{"no rows between checkpoints", func(c *Config) { c.Stages.Subsample.CheckpointRows = 0 }, "subsample.checkpoint_rows", "1 or more"},
		{"no time between checkpoints", func(c *Config) { c.Stages.Subsample.CheckpointInterval = 0 }, "subsample.checkpoint_interval", "above 0"},
		{"unknown featurize start", func(c *Config) { c.Stages.Featurize.Start = "" }, "featurize.start", "earliest, latest"},
		{"no output", func(c *Config) { c.Stages.Featurize.MaxOutputBytes = 0 }, "featurize.max_output_bytes", "1 or more"},
		{"output that the broker refuses", func(c *Config) { c.Stages.Featurize.MaxOutputBytes = 9 << 20 }, "featurize.max_output_bytes", "topics.max_message_bytes"},
		{"no time between commits", func(c *Config) { c.Stages.Featurize.CommitInterval = 0 }, "featurize.commit_interval", "above 0"},

		{"a column of predictions passed through", func(c *Config) {
			c.Stages.Featurize.Predictions, c.Stages.Events.Passthrough = true, []string{"id", "prediction"}
		}, "events.passthrough", `reserved: "prediction"`},
		{"a label named as predictions are", func(c *Config) {
			c.Stages.Featurize.Predictions, c.Stages.Events.Label = true, []string{"probabilities"}
		}, "events.label", `reserved: "probabilities"`},

		{"no time between models", func(c *Config) { c.Stages.Train.Interval = 0 }, "train.interval", "above 0"},
		{"model of nothing", func(c *Config) { c.Stages.Train.MinRows = 0 }, "train.min_rows", "1 or more"},
		{"nothing held out", func(c *Config) { c.Stages.Train.HeldOutFraction = 0 }, "train.held_out_fraction", "above 0"},
		{"all held out", func(c *Config) { c.Stages.Train.HeldOutFraction = 1 }, "train.held_out_fraction", "below 1"},
		{"nothing evaluated", func(c *Config) { c.Stages.Train.EvaluationRows = 0 }, "train.evaluation_rows", "1 or more"},
		{"unknown grid", func(c *Config) { c.Stages.Train.LambdaGrid = "fine" }, "train.lambda_grid", "relative, paper"},
		{"negative lambda", func(c *Config) { c.Stages.Train.LambdaGrid = "1,-1" }, "train.lambda_grid", ">= 0"},
		{"unknown loss", func(c *Config) { c.Stages.Train.Loss = "hinge" }, "train.loss", "squared"},
		{"no share of the rows", func(c *Config) { c.Stages.Train.SampleRate = 0 }, "train.sample_rate", "above 0"},
		{"more than all rows", func(c *Config) { c.Stages.Train.SampleRate = 1.5 }, "train.sample_rate", "at most 1"},
		{"window below the rows of a model", func(c *Config) { c.Stages.Train.Window.Rows = 999 }, "train.window", "train.min_rows (1000)"},
		{"window of too many left out", func(c *Config) {
			c.Stages.Train.Window.Rows, c.Stages.Train.SampleRate = 5000, 0.1
		}, "train.window", "train.sample_rate (0.1)"},
		{"unknown rule of promotion", func(c *Config) { c.Stages.Train.Promote.Rule = "never" }, "train.promote.rule", "better, better_across_sets, always"},
		{"margin of all of the error", func(c *Config) { c.Stages.Train.Promote.Margin = 1 }, "train.promote.margin", "below 1"},
		{"margin that is no number", func(c *Config) { c.Stages.Train.Promote.Margin = train.Margin(math.NaN()) }, "train.promote.margin", "at least -1"},

		{"messages of nothing", func(c *Config) { c.Stages.Limits.MaxMessageBytes = 0 }, "limits.max_message_bytes", "1KiB"},
		{"budget below a message", func(c *Config) { c.Stages.Limits.BudgetBytes = 1 << 20 }, "limits.budget_bytes", "limits.max_message_bytes"},
		{"no rows", func(c *Config) { c.Stages.Limits.MaxRows = 0 }, "limits.max_rows", "1 to 2147483647"},
		{"negative amplification", func(c *Config) { c.Stages.Limits.Amplification = -1 }, "limits.amplification", "0 or more"},
		{"no columns", func(c *Config) { c.Stages.Limits.MaxColumns = 0 }, "limits.max_columns", "1 or more"},
		{"sets of a pipeline that cannot be one", func(c *Config) { c.Stages.Featurize.SetsFrom = "Shop" }, "featurize.sets_from", "1 to 64 of a-z"},
		{"sets of the pipeline itself", func(c *Config) { c.Stages.Featurize.SetsFrom = "default" }, "featurize.sets_from", "is this pipeline itself"},
		{"scores of a pipeline that explores nothing", func(c *Config) { c.Stages.Featurize.SetsFrom = "shop" }, "topics.scores", "explores nothing"},
		{"samples of a pipeline that explores nothing", func(c *Config) { c.Stages.Featurize.SetsFrom = "shop" }, "topics.samples", "explores nothing"},
		{"unknown level", func(c *Config) { c.Log.Level = "loud" }, "log.level", "debug, info, warn, error"},
		{"unknown format", func(c *Config) { c.Log.Format = "xml" }, "log.format", "auto, console, json"},
		{"no time to drain", func(c *Config) { c.Shutdown.DrainTimeout = 0 }, "shutdown.drain_timeout", "above 0"},
		{"memory for nothing", func(c *Config) { c.Memory.Limit = 64 << 20 }, "memory.limit", "want 128MiB or more"},
		{"fewer than no messages", func(c *Config) { c.Memory.Messages = -1 }, "memory.messages", "want 1 or more, or 0"},
		{"no memory for an output", func(c *Config) { c.Stages.Featurize.OutputMemory = 1 << 19 }, "featurize.output_memory", "featurize.max_output_bytes or more"},
		{"fewer than no partitions", func(c *Config) { c.Memory.Partitions = -1 }, "memory.partitions", "want 1 or more, or 0"},
		{"address without a port", func(c *Config) { c.Admin.Listen = "localhost" }, "admin.listen", "want host:port"},
		{"address with a port by name", func(c *Config) { c.Admin.Listen = "localhost:http" }, "admin.listen", "want host:port"},
		{"served nowhere", func(c *Config) { c.Serve.Listen = "8000" }, "serve.listen", "host:port"},
		{"token of rows that can be guessed", func(c *Config) { c.Serve.Token = "hunter2" }, "serve.token", "want 16 bytes or more"},
		{"certificate without key", func(c *Config) { c.Serve.TLS.CertFile = "a.crt" }, "serve.tls.cert_file", "both"},
		{"certificates of clients alone", func(c *Config) { c.Serve.TLS.ClientCAFile = "a.crt" }, "serve.tls.client_ca_file", "need serve.tls.cert_file"},
		{"no bodies", func(c *Config) { c.Serve.MaxBodyBytes = 0 }, "serve.max_body_bytes", "1KiB"},
		{"budget below a body", func(c *Config) { c.Serve.BudgetBytes = 1 << 20 }, "serve.budget_bytes", "serve.max_body_bytes"},
		{"no rows", func(c *Config) { c.Serve.MaxRows = 0 }, "serve.max_rows", "1 to"},
		{"no answers", func(c *Config) { c.Serve.MaxResponseBytes = 10 }, "serve.max_response_bytes", "64KiB"},
		{"no room for the largest request", func(c *Config) { c.Serve.Memory = 1 << 20 }, "serve.memory", "would never find room"},
		{"negative places", func(c *Config) { c.Serve.Concurrency = -1 }, "serve.concurrency", "twice the processors"},
		{"no connections", func(c *Config) { c.Serve.Connections = 0 }, "serve.connections", "1 or more"},
		{"no time", func(c *Config) { c.Serve.Timeout = 0 }, "serve.timeout", "above 0"},
		{"drain before the signal", func(c *Config) { c.Serve.DrainDelay = -1 }, "serve.drain_delay", "0 for none"},
		{"address with a port beyond", func(c *Config) { c.Admin.Listen = ":65536" }, "admin.listen", "want host:port"},
		{"traces to no URL", func(c *Config) { c.Traces.Endpoint = "localhost:4318" }, "traces.endpoint", "want a URL"},
		{"traces with a password that would be shown", func(c *Config) { c.Traces.Endpoint = "http://u:p@localhost:4318" }, "traces.endpoint", "want a URL"},
		{"more than all traces", func(c *Config) { c.Traces.SampleRatio = 1.5 }, "traces.sample_ratio", "want 0 to 1"},
		{"a share that is no number", func(c *Config) { c.Traces.SampleRatio = math.NaN() }, "traces.sample_ratio", "want 0 to 1"},
		{"drains for as long as a rebalance waits", func(c *Config) { c.Shutdown.DrainTimeout = c.Kafka.RebalanceTimeout }, "shutdown.drain_timeout", "less than kafka.rebalance_timeout (30s)"},
		{"drains for longer than a rebalance waits", func(c *Config) { c.Kafka.RebalanceTimeout = 20 * time.Second }, "shutdown.drain_timeout", "less than kafka.rebalance_timeout (20s)"},
		{"drains for longer than a rebalance waits by default", func(c *Config) { c.Shutdown.DrainTimeout, c.Kafka.RebalanceTimeout = time.Minute, 0 }, "shutdown.drain_timeout", "less than kafka.rebalance_timeout (30s)"},

		{"no memory for candidates", func(c *Config) { c.Stages.Exploration.CandidateMemory = 1000 }, "exploration.candidate_memory", "1MiB or more"},
		{"checkpoint too large", func(c *Config) { c.Stages.Exploration.Candidates = 1_000_000 }, "exploration.candidates", "checkpoint of a partition takes 23 MiB"},
		{"checkpoint too large for the classes", func(c *Config) {
			c.Stages.Exploration.Candidates, c.Stages.Events.Label = 100_000, []string{"y"}
			c.Stages.Events.Classes = []string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"}
		}, "exploration.candidates", "checkpoint of a partition takes 9.2 MiB"},
		{"feature set too large", func(c *Config) {
			c.Stages.Exploration.Features, c.Stages.Exploration.Candidates = 300_000, 300_000
			c.Stages.Featurize.MaxOutputBytes = 8 << 20
		}, "exploration.features", "a feature set takes"},
		{"row of features too large", func(c *Config) { c.Stages.Featurize.MaxOutputBytes = 2000 }, "exploration.features", "a row of features takes 2,016 bytes, featurize.max_output_bytes is 2,000 bytes"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := Default()
			tt.set(c)
			faults := validityOf(t, c)
			for _, fault := range faults {
				if fault.Key == tt.key && strings.Contains(fault.Bound, tt.want) {
					return
				}
			}
			t.Errorf("faults %v, want one at %s with %q", faults, tt.key, tt.want)
		})
	}
}

func TestEveryFaultOfARuleNamesAKnownKey(t *testing.T) {
	// Zero values break most rules at once.
	faults := validityOf(t, new(Config))
	if len(faults) < 15 {
		t.Errorf("%d faults of an all-zero configuration: %v", len(faults), faults)
	}
	seen := map[string]bool{}
	for _, fault := range faults {
		if readSchema().byName[fault.Key] == nil {
			t.Errorf("fault %v is about no known key", fault)
		}
		if seen[fault.Key] && !strings.HasPrefix(fault.Key, "kafka.") {
			t.Errorf("%s is listed twice", fault.Key)
		}
		seen[fault.Key] = true
	}
}

func TestOneMistakeIsOneFault(t *testing.T) {
	for _, text := range []string{
		"exploration: {features: many, candidates: 5}",
		"exploration: {features: 0, candidates: 5}",
		"exploration: {criterion: residual, map: linear, distribution: uniforme}",
		"topics: {max_message_bytes: 0}",
		"events: {classes: 5, task: regression, label: [y]}",
		"kafka: {heartbeat_interval: 5s, session_timeout: soon}",
		"kafka: {rebalance_timeout: soon}\nshutdown: {drain_timeout: 1m}",
	} {
		if faults := faultsOf(t, text); len(faults) != 1 {
			t.Errorf("%s: %d faults, want 1: %v", text, len(faults), faults)
		}
	}
}

// A restart reads the segments left by the cleaner and the live checkpoints before them.
func TestRestartCountsTheLiveCheckpoints(t *testing.T) {
	sizes := func(c *Config) (checkpoint, restart Size) {
		for _, size := range c.Sizes() {
			switch {
			case size.What == "checkpoint of a partition":
				checkpoint = size
			case strings.Contains(size.What, "at a restart"):
				restart = size
			}
		}
		return checkpoint, restart
	}
	c := Default()
	checkpoint, restart := sizes(c)
	if want := 2*(64<<20) + 2*checkpoint.Bytes; restart.Bytes != want {
		t.Errorf("a restart reads %d bytes, want two segments and two checkpoints, %d", restart.Bytes, want)
	}
	if !strings.Contains(restart.What, "about") || !strings.Contains(restart.Assumes, "log compaction keeps up") {
		t.Errorf("%+v does not say that compaction may lag", restart)
	}
	c.Stages.Exploration.Candidates *= 4
	larger, more := sizes(c)
	if more.Bytes-restart.Bytes != 2*(larger.Bytes-checkpoint.Bytes) {
		t.Errorf("checkpoints of %d instead of %d bytes: a restart reads %d instead of %d",
			larger.Bytes, checkpoint.Bytes, more.Bytes, restart.Bytes)
	}
}

// candidatesInMemory returns the size for the candidates.
func candidatesInMemory(t *testing.T, c *Config) Size {
	t.Helper()
	sizes := c.Sizes()
	i := slices.IndexFunc(sizes, func(s Size) bool { return strings.HasPrefix(s.What, "candidates in memory") })
	if i < 0 {
		t.Fatalf("no size of the candidates in %+v", sizes)
	}
	return sizes[i]
}

func TestSizesSayWhetherCandidatesAreKept(t *testing.T) {
	c := Default()
	c.Stages.Exploration.Candidates, c.Stages.Events.Features = 100_000, make([]string, 784)
	for _, test := range []struct {
		memory int64
		want   string
	}{{1 << 30, "all 100000 kept"}, {256 << 20, "drawn for every"}, {1 << 20, "0 kept and 100000 drawn"}} {
		c.Stages.Exploration.CandidateMemory = test.memory
		last := candidatesInMemory(t, c)
		if !strings.Contains(last.What, test.want) || !strings.Contains(last.Assumes, "784 encoded dimensions") || !strings.Contains(last.Assumes, "4 partitions") {
			t.Errorf("with %d bytes: %+v, want %q", test.memory, last, test.want)
		}
		if test.memory > 1<<20 && last.Bytes > test.memory {
			t.Errorf("%d bytes of %d", last.Bytes, test.memory)
		}
	}
}

// TestSizesOfWhatIsRefused: a fault is reported with the others, and sizes are computed all the same.
func TestSizesOfWhatIsRefused(t *testing.T) {
	c := Default()
	c.Stages.Exploration.Candidates, c.Stages.Exploration.CandidateMemory, c.Stages.Topics.Partitions = -5, -1, -1
	if len(c.Sizes()) == 0 || c.Validate() == nil {
		t.Error("negative sizes are accepted")
	}
}

func TestSizesSayWhatTheyAssume(t *testing.T) {
	c := Default()
	for _, size := range c.Sizes() {
		inMemory := strings.HasPrefix(size.What, "candidates in memory") || strings.HasPrefix(size.What, "sample of ")
		if size.Bytes <= 0 || (size.Topic == "") != inMemory || size.What == "" {
			t.Errorf("size %+v", size)
		}
		if size.What == "feature set" && !strings.Contains(size.Assumes, "1 encoded dimensions") {
			t.Errorf("size %+v does not say what it takes the dimension to be", size)
		}
	}
	c.Stages.Events.Classes = []string{"a", "b", "c"}
	for _, size := range c.Sizes() {
		if size.What == "checkpoint of a partition" && size.Assumes != "" {
			t.Errorf("size %+v assumes what the classes say", size)
		}
	}
}

// TestEveryNumberHasABound sets each number and duration below its smallest possible value.
func TestEveryNumberHasABound(t *testing.T) {
	for _, key := range Keys() {
		c := Default()
		switch v := reflect.ValueOf(c).Elem().FieldByIndex(key.index); {
		case v.CanInt():
			v.SetInt(math.MinInt32)
		case v.CanFloat():
			v.SetFloat(-1e300)
		default:
			continue
		}
		var faults Faults
		if errors.As(c.Validate(), &faults); !slices.ContainsFunc(faults, func(f Fault) bool { return f.Key == key.Name }) {
			t.Errorf("%s may be below zero", key.Name)
		}
	}
}
