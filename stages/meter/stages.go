package meter

// Stage is the name of a stage: a value of the flag --stages, a label of metrics, and the last part
// of the name of a consumer group. Package stages lists them all.
type Stage string

// Names of the stages.
const (
	StageCalibrate Stage = "calibrate"
	StageSubsample Stage = "subsample"
	StageSelection Stage = "selection"
	StageFeaturize Stage = "featurize"
	StageTrain     Stage = "train"
)
