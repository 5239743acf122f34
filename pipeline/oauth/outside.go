package oauth

import "github.com/eerf-stream/eerf/internal/outside"

// Outside lists the values that a token endpoint, a command or a file answers with.
func Outside() []outside.Source {
	return []outside.Source{{
		Name:   "answers with tokens",
		Where:  "`oauth` of Kafka and of the registry: token endpoint, command or file",
		Writer: "the identity provider",
		Beyond: "the token is refused, the connection retried",
		Values: []outside.Value{
			{Name: "access_token", Shape: outside.TextOf(maxTokenBytes)},
			{Name: "expires_in, exp", Shape: outside.WholeOf(outside.MaxCount)},
		},
	}}
}
