package training

// Mean returns the mean of models as one model of a number of features. Model j is on the features
// with the numbers members[j]. The λ of the mean is the mean of theirs.
// The intercepts of the models are kept for [Model.MemberModels].
func Mean(features int, members [][]int32, models []*Model) *Model {
	first, n := models[0], float64(len(models))
	mean := &Model{
		Features:  features,
		Outputs:   first.Outputs,
		Theta:     make([]float64, first.Outputs*features),
		Intercept: make([]float64, first.Outputs),
		Loss:      first.Loss,
	}
	for j, m := range models {
		mean.Lambda += m.Lambda / n
		mean.MemberIntercept = append(mean.MemberIntercept, m.Intercept...)
		for k := range m.Outputs {
			mean.Intercept[k] += m.Intercept[k] / n
			for i, at := range members[j] {
				mean.Theta[k*features+int(at)] += m.Theta[k*m.Features+i] / n
			}
		}
	}
	return mean
}
