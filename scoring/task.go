package scoring

// Task is the kind of the labels. It determines the coding of raw outputs (see [Sums.Coding]).
type Task uint8

// The tasks, by their names in configuration and on the wire.
const (
	// Regression has real outputs, one or several.
	Regression Task = iota
	// Binary has two classes in one output of ±1.
	Binary
	// MultiClass has K classes in K outputs, the indicator of each class.
	MultiClass

	taskCount = iota
)

// taskRow is the name of a task and the function that fills its gains and offsets in [Sums.Coding].
type taskRow struct {
	name string
	code func(s *Sums, c Coding)
}

// tasks has the rows by task. A test requires each to be complete.
var tasks = [taskCount]taskRow{
	Regression: {"regression", (*Sums).codeRange},
	Binary:     {"binary", (*Sums).codeSigns},
	MultiClass: {"multiclass", (*Sums).codeIndicators},
}

var taskNames = namesOf[Task]("task", tasks[:], func(r taskRow) string { return r.name })

// String returns the name, such as "regression".
func (t Task) String() string { return taskNames.name(t) }

// MarshalText returns the name; it fails for a value that is none of the constants.
func (t Task) MarshalText() ([]byte, error) { return taskNames.marshal(t) }

// UnmarshalText sets the value of that name; the error of an unknown name lists the known ones.
func (t *Task) UnmarshalText(text []byte) error { return taskNames.unmarshal(t, text) }
