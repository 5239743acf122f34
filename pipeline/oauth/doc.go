// Package oauth fetches the tokens for brokers and registries: from a token endpoint by client
// credentials, from a command or from a file.
//
// A [Source] has one token for the whole process: all users of one [Config] share it. It fetches
// the next token after three fifths to three quarters of the current one's lifetime, chosen at
// random, and retries after failures, at first after a second and at last every 15 s, while the
// current one is still valid. A token without an expiry is replaced after five minutes. A file is
// read whenever a token is needed.
//
// Errors name the endpoint, command or file, and quote its answer without secrets and tokens.
//
// A Source is safe for concurrent use. Between fetches it has a timer and no goroutine; Close stops
// the timer.
package oauth
