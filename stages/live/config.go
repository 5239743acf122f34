package live

// Config says what is compared.
type Config struct {
	PredictionColumn string `key:"prediction_column" doc:"column of events with the prediction that was made when the row was asked for, for labels that come later: a number, or the name of a class. Rows without one are not compared. It is never a feature. Empty = rows are predicted by the model in use when they come with their label"`
}
