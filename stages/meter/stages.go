package meter

// Names of the stages, as in flags, dead letters and logs.
const (
	StageCalibrate = "calibrate"
	StageSubsample = "subsample"
	StageSelect    = "select"
	StageFeaturize = "featurize"
	StageTrain     = "train"
)

// Stages lists the stages in the order of the flow.
func Stages() []string {
	return []string{StageCalibrate, StageSubsample, StageSelect, StageFeaturize, StageTrain}
}
