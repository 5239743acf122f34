package config

import (
	"fmt"

	"github.com/eerf-stream/eerf/stages/serve"
)

// minTokenBytes is the minimum length of a token: shorter ones can be guessed.
const minTokenBytes = 16

func (k *checker) serve() {
	c := k.config.Serve
	k.rule(isListenAddress(c.Listen), "serve.listen", "want host:port, such as 127.0.0.1:8000 or :8000")
	k.rule(c.Token == "" || len(c.Token) >= minTokenBytes, "serve.token",
		fmt.Sprintf("want %d bytes or more, as `openssl rand -hex 16` prints, or empty for no token", minTokenBytes))
	k.oneOf(c.Missing, "serve.missing", serve.MissingRules()...)
	k.rule((c.TLS.CertFile == "") == (c.TLS.KeyFile == ""), "serve.tls.cert_file",
		"want both serve.tls.cert_file and serve.tls.key_file, or neither", "serve.tls.key_file")
	k.rule(c.TLS.ClientCAFile == "" || c.TLS.CertFile != "", "serve.tls.client_ca_file",
		"client certificates require serve.tls.cert_file", "serve.tls.cert_file")
	k.rule(c.BudgetBytes >= c.MaxBodyBytes, "serve.budget_bytes",
		fmt.Sprintf("want at least serve.max_body_bytes (%s): decoding may copy a body once",
			sizeText(c.MaxBodyBytes)), "serve.max_body_bytes")
	k.rule(c.Memory > c.MaxBodyBytes+c.MaxResponseBytes, "serve.memory",
		fmt.Sprintf("want more than serve.max_body_bytes and serve.max_response_bytes together (%s), or the largest "+
			"request would never find room", sizeText(c.MaxBodyBytes+c.MaxResponseBytes)),
		"serve.max_body_bytes", "serve.max_response_bytes")
}
