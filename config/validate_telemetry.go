package config

import (
	"net"
	"net/url"
	"strconv"
)

func (k *checker) admin() {
	listen := k.config.Admin.Listen
	k.rule(listen == "" || isListenAddress(listen), "admin.listen",
		"want host:port, such as 127.0.0.1:9464 or :9464, or empty for no server")
}

// isListenAddress reports whether an address has a numeric port, and a host that is empty, a name
// or an IP address.
func isListenAddress(address string) bool {
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	_, err = strconv.ParseUint(port, 10, 16)
	return err == nil
}

func (k *checker) traces() {
	c := k.config.Traces
	k.rule(c.Endpoint == "" || isHTTP(c.Endpoint), "traces.endpoint",
		"want a URL without user, such as http://localhost:4318/v1/traces, or empty for no traces")
}

// isHTTP reports whether a text is the URL of a server, without credentials, because the
// configuration is shown.
func isHTTP(text string) bool {
	u, err := url.Parse(text)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" && u.User == nil
}
