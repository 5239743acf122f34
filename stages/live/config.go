package live

// Config selects the predictions to compare with labels.
type Config struct {
	PredictionColumn string `key:"prediction_column" doc:"column of events that holds the original prediction, for labels that arrive later: a number, or the name of a class. Rows without one are not compared. It is never a feature. Empty = the current model predicts a row when it arrives with its label"`
}
