package config

import (
	"errors"
	"math"
	"math/big"
	"reflect"

	"strings"
	"testing"
	"time"

	"github.com/eerf-stream/eerf/scoring"
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
		{"heartbeat too slow", func(c *Config) { c.Kafka.HeartbeatInterval = 9 * time.Second }, "kafka.heartbeat_interval",
			"a third of session_timeout"},
		{"no such format", func(c *Config) { c.Stages.Events.Format = "xml" }, "events.format", "want one of auto"},
		{"schema of JSON", func(c *Config) { c.Stages.Events.Format, c.Stages.Events.Schema = "json", "a.avsc" },
			"events.schema", "avro or protobuf"},
		{"address of no registry", func(c *Config) { c.Registry.URL = []string{"registry:8081"} }, "registry.url", "http://"},
		{"token in the open", func(c *Config) {
			c.Registry.URL, c.Registry.OAuth.TokenFile = []string{"http://registry"},
				"t"
		}, "registry.url", "allow_plaintext"},
		{"budget below the largest message", func(c *Config) {
			c.Kafka.FetchMaxBytes = 1 << 20
			c.Kafka.BatchBudgetBytes = 7 << 20
			c.Stages.Limits.MaxMessageBytes = 1 << 20
		}, "kafka.batch_budget_bytes", "topics.max_message_bytes (8388608)"},
		{"budget below the limit", func(c *Config) {
			c.Stages.Limits.MaxMessageBytes, c.Stages.Limits.BudgetBytes = 65<<20,
				65<<20
		}, "kafka.batch_budget_bytes", "limits.max_message_bytes"},

		{"pipeline without a name", func(c *Config) { c.Stages.Pipeline.Name = "" }, "pipeline.name", "1 to 64"},

		{"topic name with a blank", func(c *Config) { c.Stages.Topics.Models = "my models" }, "topics.models", "1 to 249"},
		{"one topic for two", func(c *Config) { c.Stages.Topics.Scores = c.Stages.Topics.Events }, "topics.scores",
			"is the topic of topics.events"},
		{"messages beyond Kafka's largest", func(c *Config) { c.Stages.Topics.MaxMessageBytes = 1 << 31 },
			"topics.max_message_bytes", "2147483647"},

		{"threshold beyond 1", func(c *Config) { c.Stages.Predict.Threshold = 1 }, "predict.threshold", "0.999999"},
		{"threshold of a number", func(c *Config) {
			c.Stages.Events.Task = "regression"
			c.Stages.Predict.Threshold = 0.2
		}, "predict.threshold", "a regression has no classes"},
		{"threshold without probabilities", func(c *Config) {
			c.Stages.Train.Loss = "squared"
			c.Stages.Predict.Threshold = 0.2
		}, "predict.threshold", "train.loss squared has no probabilities"},

		{"unknown task", func(c *Config) { c.Stages.Events.Task = "ranking" }, "events.task", "not one of"},
		{"share of missing values", func(c *Config) { c.Stages.Events.MissingIndicator = 2 }, "events.missing_indicator",
			"want 0 to 1"},
		{"one class", func(c *Config) { c.Stages.Events.Label, c.Stages.Events.Classes = []string{"y"}, []string{"a"} },
			"events.classes", "1 names"},
		{"label among the features", func(c *Config) {
			c.Stages.Events.Label, c.Stages.Events.Features = []string{"y"},
				[]string{"y"}
		}, "events.label", "both in label and features"},
		{"logarithm of a class", func(c *Config) {
			c.Stages.Events.Label = []string{"y"}
			c.Stages.Events.Task = "classification"
			c.Stages.Events.LabelTransform = "log"
		}, "events.label_transform", "for regression"},
		{"classes with two labels", func(c *Config) {
			c.Stages.Events.Label = []string{"y", "z"}
			c.Stages.Events.Task = "classification"
		}, "events.label", "takes one"},
		{"classes of a regression", func(c *Config) {
			c.Stages.Events.Label = []string{"y"}
			c.Stages.Events.Task = "regression"
			c.Stages.Events.Classes = []string{"a", "b"}
		}, "events.classes", "regression"},
		{"bounds crossed", func(c *Config) {
			c.Stages.Events.Label = []string{"y"}
			c.Stages.Events.LabelMin = &high
			c.Stages.Events.LabelMax = &low
		}, "events.label_min", "above label_max"},

		{"distribution of another map", func(c *Config) {
			c.Stages.Exploration.Map, c.Stages.Exploration.Distribution = scoring.MapLinear, scoring.Cauchy
		}, "exploration.map", "want one of [gaussian]"},
		{"bandwidth that is no number", func(c *Config) { c.Stages.Exploration.Sigma = math.NaN() }, "exploration.sigma",
			"want 1e-30 to 1e+30"},
		{"more members than features", func(c *Config) {
			c.Stages.Exploration.Members, c.Stages.Exploration.Features = 4, 3
		}, "exploration.members", "at most exploration.features (3)"},
		{"steps beyond all", func(c *Config) { c.Stages.Exploration.RefineSteps = 1001 }, "exploration.refine_steps",
			"want 0 to 1000"},
		{"learning for another map", func(c *Config) {
			c.Stages.Exploration.Criterion, c.Stages.Exploration.Map = scoring.Adaptive, scoring.MapArcCosine1
		}, "exploration.criterion", "feature map cosine, not arccos1"},
		{"learning from another distribution", func(c *Config) {
			c.Stages.Exploration.Criterion, c.Stages.Exploration.Distribution = scoring.Adaptive, scoring.Cauchy
		}, "exploration.criterion", "distribution gaussian, not cauchy"},
		{"M above M0", func(c *Config) { c.Stages.Exploration.Candidates = 499 }, "exploration.features",
			"at most exploration.candidates (499)"},
		{"unknown kernel", func(c *Config) { c.Stages.Exploration.Kernel = "fast" }, "exploration.kernel", "auto, plain"},
		{"unknown part of the log", func(c *Config) { c.Stages.Exploration.From = "noon" }, "exploration.from",
			"recent, earliest, next"},
		{"rate above one", func(c *Config) { c.Stages.Exploration.SampleRate = 1.1 }, "exploration.sample_rate", "at most 1"},
		{"window too small to plan", func(c *Config) { c.Stages.Exploration.Window = 1999 }, "exploration.min_rows",
			"at most exploration.window (1999)"},
		{"sample that takes too much memory", func(c *Config) { c.Stages.Exploration.SampleMemory = 1 << 20 },
			"exploration.sample_rows", "exploration.sample_memory is 1.0 MiB"},
		{"one calibration row", func(c *Config) { c.Stages.Exploration.CalibrationRows = 1 }, "exploration.calibration_rows",
			"want 2 to"},

		{"unknown featurize start", func(c *Config) { c.Stages.Featurize.Start = "" }, "featurize.start", "earliest, latest"},
		{"output that the broker refuses", func(c *Config) { c.Stages.Featurize.MaxOutputBytes = 9 << 20 },
			"featurize.max_output_bytes", "topics.max_message_bytes"},

		{"a column of predictions passed through", func(c *Config) {
			c.Stages.Featurize.Predictions, c.Stages.Events.Passthrough = true, []string{"id", "prediction"}
		}, "events.passthrough", `reserved: "prediction"`},
		{"a label named as predictions are", func(c *Config) {
			c.Stages.Featurize.Predictions, c.Stages.Events.Label = true, []string{"probabilities"}
		}, "events.label", `reserved: "probabilities"`},

		{"predictions among the features", func(c *Config) {
			c.Stages.Live.PredictionColumn, c.Stages.Events.Features = "said", []string{"a", "said"}
		}, "live.prediction_column", "is one of events.features"},
		{"predictions as the label", func(c *Config) {
			c.Stages.Live.PredictionColumn, c.Stages.Events.Label = "said", []string{"said"}
		}, "live.prediction_column", "is the label"},
		{"one column of predictions for two labels", func(c *Config) {
			c.Stages.Live.PredictionColumn, c.Stages.Events.Label = "said", []string{"y", "z"}
		}, "live.prediction_column", "several"},

		{"all held out", func(c *Config) { c.Stages.Train.HeldOutFraction = 1 }, "train.held_out_fraction", "below 1"},
		{"unknown grid", func(c *Config) { c.Stages.Train.LambdaGrid = "fine" }, "train.lambda_grid", "relative, paper"},
		{"unknown measure", func(c *Config) { c.Stages.Train.Measure = "luck" }, "train.measure", "log_loss"},
		{"unknown loss", func(c *Config) { c.Stages.Train.Loss = "hinge" }, "train.loss", "squared"},
		{"window below the rows of a model", func(c *Config) { c.Stages.Train.Window = 999 }, "train.window",
			"train.min_rows (1000)"},
		{"margin of all of the error", func(c *Config) { c.Stages.Train.Promote.Margin = 1 }, "train.promote.margin",
			"below 1"},

		{"budget below a message", func(c *Config) { c.Stages.Limits.BudgetBytes = 1 << 20 }, "limits.budget_bytes",
			"limits.max_message_bytes"},
		{"sets of a pipeline that cannot be one", func(c *Config) { c.Stages.Featurize.SetsFrom = "Shop" },
			"featurize.sets_from", "1 to 64 of a-z"},
		{"sets of the pipeline itself", func(c *Config) { c.Stages.Featurize.SetsFrom = "default" }, "featurize.sets_from",
			"is this pipeline itself"},
		{"scores of a pipeline that explores nothing", func(c *Config) { c.Stages.Featurize.SetsFrom = "shop" },
			"topics.scores", "explores nothing"},
		{"samples of a pipeline that explores nothing", func(c *Config) { c.Stages.Featurize.SetsFrom = "shop" },
			"topics.samples", "explores nothing"},
		{"unknown level", func(c *Config) { c.Log.Level = "loud" }, "log.level", "debug, info, warn, error"},
		{"memory for nothing", func(c *Config) { c.Memory.Limit = 64 << 20 }, "memory.limit", "want 128MiB to"},
		{"no memory for an output", func(c *Config) { c.Stages.Featurize.OutputMemory = 1 << 19 }, "featurize.output_memory",
			"featurize.max_output_bytes or more"},
		{"address without a port", func(c *Config) { c.Admin.Listen = "localhost" }, "admin.listen", "want host:port"},
		{"served nowhere", func(c *Config) { c.Serve.Listen = "8000" }, "serve.listen", "host:port"},
		{"token of rows that can be guessed", func(c *Config) { c.Serve.Token = "hunter2" }, "serve.token",
			"want 16 bytes or more"},
		{"certificate without key", func(c *Config) { c.Serve.TLS.CertFile = "a.crt" }, "serve.tls.cert_file", "both"},
		{"certificates of clients alone", func(c *Config) { c.Serve.TLS.ClientCAFile = "a.crt" }, "serve.tls.client_ca_file",
			"require serve.tls.cert_file"},
		{"budget below a body", func(c *Config) { c.Serve.BudgetBytes = 1 << 20 }, "serve.budget_bytes",
			"serve.max_body_bytes"},
		{"no room for the largest request", func(c *Config) { c.Serve.Memory = 1 << 20 }, "serve.memory",
			"would never find room"},
		{"traces to no URL", func(c *Config) { c.Traces.Endpoint = "localhost:4318" }, "traces.endpoint", "want a URL"},
		{"traces with a password that would be shown", func(c *Config) { c.Traces.Endpoint = "http://u:p@localhost:4318" },
			"traces.endpoint", "want a URL"},
		{"drains for as long as a rebalance waits", func(c *Config) { c.Shutdown.DrainTimeout = c.Kafka.RebalanceTimeout },
			"shutdown.drain_timeout", "less than kafka.rebalance_timeout (30s)"},
		{"drains for longer than a rebalance waits by default",
			func(c *Config) {
				c.Shutdown.DrainTimeout, c.Kafka.RebalanceTimeout = time.Minute,
					0
			}, "shutdown.drain_timeout", "less than kafka.rebalance_timeout (30s)"},

		{"no memory for candidates", func(c *Config) { c.Stages.Exploration.CandidateMemory = 1000 },
			"exploration.candidate_memory", "want 1MiB to"},
		{"candidates that do not fit", func(c *Config) {
			c.Stages.Exploration.Candidates, c.Stages.Events.Features = 200_000, make([]string, 784)
		}, "exploration.candidates", "pool of 200000 candidates in memory takes 602 MiB"},
		{"checkpoint too large", func(c *Config) { c.Stages.Exploration.Candidates = 1_000_000 }, "exploration.candidates",
			"checkpoint of a partition takes 23 MiB"},
		{"checkpoint too large for the classes", func(c *Config) {
			c.Stages.Exploration.Candidates, c.Stages.Events.Label = 100_000, []string{"y"}
			c.Stages.Events.Classes = []string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"}
		}, "exploration.candidates", "checkpoint of a partition takes 9.2 MiB"},
		{"feature set too large", func(c *Config) {
			c.Stages.Exploration.Features, c.Stages.Exploration.Candidates = 300_000, 300_000
			c.Stages.Featurize.MaxOutputBytes = 8 << 20
		}, "exploration.features", "a feature set takes"},
		{"row of features too large", func(c *Config) { c.Stages.Featurize.MaxOutputBytes = 2000 }, "exploration.features",
			"a row of features takes 3.9 KiB, featurize.max_output_bytes is 2.0 KiB"},
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

func TestFaultsNameKnownKeys(t *testing.T) {
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
		"pipeline: {name: 'my pipeline'}",
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

func TestSizesNameTheirAssumptions(t *testing.T) {
	c := Default()
	for _, size := range c.Sizes() {
		inMemory := strings.HasPrefix(size.What, "pool of ") || strings.HasPrefix(size.What, "sample of ")
		if size.Bytes <= 0 || (size.Topic == "") != inMemory || size.What == "" {
			t.Errorf("size %+v", size)
		}
		if size.What == "feature set" && !strings.Contains(size.Assumes, "1 encoded dimensions") {
			t.Errorf("size %+v does not name its assumption about the dimension", size)
		}
	}
	c.Stages.Events.Classes = []string{"a", "b", "c"}
	for _, size := range c.Sizes() {
		if size.What == "checkpoint of a partition" && size.Assumes != "" {
			t.Errorf("size %+v assumes outputs although the classes are given", size)
		}
	}
}

// numericKeys are the keys with a number, and for each the value of a type.
func numericKeys() (keys []Key) {
	for _, key := range Keys() {
		switch v := reflect.ValueOf(Default()).Elem().FieldByIndex(key.index); {
		case v.CanInt(), v.CanFloat():
			keys = append(keys, key)
		}
	}
	return keys
}

// faultAt returns the fault of a key with a value, empty if there is none.
func faultAt(key Key, set func(reflect.Value)) string {
	c := Default()
	set(reflect.ValueOf(c).Elem().FieldByIndex(key.index))
	var faults Faults
	if errors.As(c.Validate(), &faults) {
		for _, fault := range faults {
			if fault.Key == key.Name {
				return fault.Bound
			}
		}
	}
	return ""
}

// Every number is refused at the extremes of its type, without a turnaround on the way. Declared
// bounds hold exactly; a rule that compares keys may refuse a bound too, with another reason.
func TestEveryNumberHasBothBounds(t *testing.T) {
	for _, key := range numericKeys() {
		extremes := []func(reflect.Value){
			func(v reflect.Value) { setNumber(v, math.MinInt64, -1e308) },
			func(v reflect.Value) { setNumber(v, math.MaxInt64, 1e308) },
		}
		for i, set := range extremes {
			if faultAt(key, set) == "" {
				t.Errorf("%s has no bound at extreme %d", key.Name, i)
			}
		}
		b := key.bounds
		if b == nil {
			continue
		}
		want := "want " + b.text(key.Type)
		for _, within := range []reflect.Value{b.least, b.greatest} {
			if got := faultAt(key, func(v reflect.Value) { v.Set(within) }); got == want {
				t.Errorf("%s = %v is refused: %s", key.Name, within, got)
			}
		}
		below := func(v reflect.Value) { beyond(v, b.least, -1) }
		above := func(v reflect.Value) { beyond(v, b.greatest, 1) }
		for _, set := range []func(reflect.Value){below, above} {
			v := reflect.New(b.least.Type()).Elem()
			if set(v); b.zero != "" && v.IsZero() {
				continue
			}
			if got := faultAt(key, set); got != want {
				t.Errorf("%s = %v: fault %q, want %q", key.Name, v, got, want)
			}
		}
		if b.zero != "" && faultAt(key, func(v reflect.Value) { v.SetZero() }) != "" {
			t.Errorf("%s: 0 is refused", key.Name)
		}
	}
}

func setNumber(v reflect.Value, integer int64, float float64) {
	if v.CanFloat() {
		v.SetFloat(float)
		return
	}
	v.SetInt(max(min(integer, math.MaxInt64>>(64-v.Type().Bits())), math.MinInt64>>(64-v.Type().Bits())))
}

// beyond sets v to the next number after a bound in a direction.
func beyond(v, bound reflect.Value, direction int) {
	if v.CanFloat() {
		v.SetFloat(math.Nextafter(bound.Float(), math.Inf(direction)))
		return
	}
	v.SetInt(bound.Int() + int64(direction))
}

// Numbers at their upper bounds, alone and all together, give sizes and needs above zero: no sum
// turns around.
func TestGreatestNumbersDoNotOverflow(t *testing.T) {
	everything := Default()
	for _, key := range numericKeys() {
		if key.bounds == nil {
			continue
		}
		c := Default()
		for _, config := range []*Config{c, everything} {
			reflect.ValueOf(config).Elem().FieldByIndex(key.index).Set(key.bounds.greatest)
			for _, size := range config.Sizes() {
				if size.Bytes < 0 {
					t.Errorf("%s: size of %s is %d", key.Name, size.What, size.Bytes)
				}
			}
			for _, plan := range []func() (MemoryPlan, error){
				func() (MemoryPlan, error) { return config.CheckMemory(config.Stages.Runs()) }, config.CheckServing,
			} {
				got, _ := plan() // a fault is right: the needs are beyond any limit
				sum := new(big.Int)
				for _, need := range got.Needs {
					if need.Bytes < 0 {
						t.Errorf("%s: %s needs %d bytes", key.Name, need.What, need.Bytes)
					}
					sum.Add(sum, big.NewInt(need.Bytes))
				}
				if !sum.IsInt64() || sum.Int64() != got.Bytes {
					t.Errorf("%s: needs %v in all, the plan has %d", key.Name, sum, got.Bytes)
				}
			}
		}
	}
}
