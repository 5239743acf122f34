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
	k.rule(1<<10 <= c.MaxBodyBytes && c.MaxBodyBytes <= maxInt32, "serve.max_body_bytes", "want 1KiB to 2147483647")
	k.rule(c.BudgetBytes >= c.MaxBodyBytes, "serve.budget_bytes",
		fmt.Sprintf("want at least serve.max_body_bytes (%s): decoding may copy a body once",
			sizeText(c.MaxBodyBytes)), "serve.max_body_bytes")
	k.rule(1 <= c.MaxRows && c.MaxRows <= maxInt32, "serve.max_rows", "want 1 to 2147483647")
	k.rule(64<<10 <= c.MaxResponseBytes && c.MaxResponseBytes <= maxInt32, "serve.max_response_bytes",
		"want 64KiB to 2147483647")
	k.rule(c.Memory > c.MaxBodyBytes+c.MaxResponseBytes, "serve.memory",
		fmt.Sprintf("want more than serve.max_body_bytes and serve.max_response_bytes together (%s), or the largest "+
			"request would never find room", sizeText(c.MaxBodyBytes+c.MaxResponseBytes)),
		"serve.max_body_bytes", "serve.max_response_bytes")
	k.rule(0 <= c.Concurrency && c.Concurrency <= maxSlots, "serve.concurrency",
		fmt.Sprintf("want 1 to %d, or 0 for twice the processors", maxSlots))
	k.rule(1 <= c.Connections && c.Connections <= maxInt32, "serve.connections", "want 1 or more")
	k.positive(c.Timeout, "serve.timeout")
	k.zeroIsOff(c.DrainDelay, "serve.drain_delay", "none")
}

// maxSlots bounds the requests processed at a time: more would not be faster on any machine.
const maxSlots = 4096
