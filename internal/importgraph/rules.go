package importgraph

// Folder is what the rules say about a folder and everything under it without a rule of its own.
type Folder struct {
	// Rank orders the folders: an import goes to a folder of lower rank or stays in its own.
	Rank int
	// Sideways names folders of the same rank that may be imported nonetheless.
	Sideways []string
	// OnlyModules, if not nil, is the full list of what may be imported besides the standard library and this module.
	// An entry covers the paths below it.
	OnlyModules []string
	// NoModules lists modules that may not be imported. An entry covers the paths below it.
	NoModules []string
}

// Rules are folders of a module by path.
type Rules map[string]Folder

// mathematics is what plain numeric code needs: linear algebra, a hash, and the processor's abilities.
var mathematics = []string{"gonum.org/v1/gonum", "github.com/cespare/xxhash/v2", "golang.org/x/sys/cpu"}

var (
	kafkaClients = []string{"github.com/segmentio/kafka-go", "github.com/twmb/franz-go"}
	arrow        = []string{"github.com/apache/arrow", "github.com/apache/arrow-go"}
	numerics     = []string{"gonum.org"}
	// metrics and what sends traces; of OpenTelemetry the stages know only the interface.
	telemetry    = []string{"github.com/prometheus", "go.opentelemetry.io/otel/sdk", "go.opentelemetry.io/otel/exporters"}
	stageModules = join(kafkaClients, telemetry)
)

// ModuleRules returns the rules of this module. A folder without a rule is a violation, so that new ones are placed
// on purpose.
func ModuleRules() Rules {
	return Rules{
		"cmd":      {Rank: 7},
		"examples": {Rank: 7},
		"k8s":      {Rank: 7}, // manifests, with a test that compares them with config and stages
		// runs the programs and reads what they wrote
		"internal/crash": {Rank: 7, NoModules: []string{"github.com/segmentio/kafka-go"}},
		"config":         {Rank: 6, NoModules: join(kafkaClients, arrow, numerics, telemetry)},
		// shows what the stages count and observe; the stages do not know it
		"telemetry": {Rank: 6, NoModules: join(kafkaClients, arrow, numerics)},

		"compare": {Rank: 5, NoModules: kafkaClients},
		// the process and the file, which combine the stages
		"stages":         {Rank: 5, NoModules: stageModules},
		"stages/offline": {Rank: 5, NoModules: stageModules},
		// answers requests about rows with what the stages publish
		"stages/serve": {Rank: 5, NoModules: stageModules},
		// one package for each stage: none knows another
		"stages/calibrate": {Rank: 4, NoModules: stageModules},
		"stages/subsample": {Rank: 4, NoModules: stageModules},
		"stages/selection": {Rank: 4, NoModules: stageModules},
		"stages/featurize": {Rank: 4, NoModules: stageModules},
		"stages/train":     {Rank: 4, NoModules: stageModules},
		// what the stages share
		"stages/supervise":  {Rank: 3, NoModules: stageModules},
		"stages/deadletter": {Rank: 3, NoModules: stageModules},
		"stages/events":     {Rank: 2, NoModules: stageModules},
		"stages/meter":      {Rank: 2, NoModules: stageModules},
		"stages/state":      {Rank: 2, NoModules: stageModules},
		"stages/topics":     {Rank: 2, NoModules: stageModules},
		// their test kits
		"stages/stagestest":          {Rank: 2, NoModules: telemetry},
		"stages/stagestest/bench":    {Rank: 4, Sideways: []string{"stages/stagestest/explored"}, NoModules: telemetry},
		"stages/stagestest/explored": {Rank: 4, Sideways: []string{"stages/calibrate", "stages/subsample", "stages/selection"}, NoModules: telemetry},

		"pipeline": {Rank: 1, NoModules: join(arrow, numerics, telemetry)},
		"datasets": {Rank: 1, Sideways: []string{"arrowio", "scoring"}, NoModules: kafkaClients},
		"arrowio":  {Rank: 1, Sideways: []string{"scoring", "training"}, NoModules: kafkaClients},
		"training": {Rank: 1, OnlyModules: mathematics},
		"scoring":  {Rank: 1, Sideways: []string{"training"}, OnlyModules: mathematics}, // fits models to choose features
		"internal": {Rank: 0, NoModules: join(kafkaClients, arrow)},
	}
}

func join(lists ...[]string) []string {
	var all []string
	for _, list := range lists {
		all = append(all, list...)
	}
	return all
}
