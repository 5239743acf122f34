package oauth

import "github.com/eerf-stream/eerf/internal/outside"

// Outside lists the values that a token endpoint, a command or a file answers with.
func Outside() []outside.Source {
	return []outside.Source{{
		Name:   "answers with tokens",
		Where:  "`oauth` of Kafka and of the registry: token endpoint, command or file",
		Writer: "the identity provider",
		Beyond: "the token is refused, the connection retried; a longer life is cut",
		Values: []outside.Value{
			{Name: "access_token", Shape: outside.TextOf(maxTokenBytes)},
			{Name: "expires_in", Shape: &outside.Shape{Kind: outside.Real, High: maxLifeSeconds}},
			{Name: "exp", Shape: &outside.Shape{Kind: outside.Real, High: lastEnd}},
		},
	}}
}
