// Package oauth gets the tokens that brokers and registries accept: from a token endpoint by client credentials, from a
// command or from a file.
//
// A [Source] has one token for the whole process: who opens one with the same [Config] shares it, and so the requests.
// It gets the next token when three fifths to three quarters of the present one's time are over, at a moment of its
// own, and tries again, at first after a second and at last every 15 s, while the present one still lives. A token that
// does not say when it ends is replaced after five minutes. A file is read whenever a token is needed.
//
// Errors name the endpoint, command or file, and what it said, as far as that cannot be a secret or a token.
//
// A Source is safe for concurrent use. Between fetches it has a timer and no goroutine, and Close stops that.
package oauth
