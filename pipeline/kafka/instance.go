package kafka

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"strings"

	"go.uber.org/zap"
)

// Values of kafka.group_instance that are not names.
const (
	instanceAuto = "auto"
	instanceNone = "none"
)

// processesPerHost limits the members of one group with names of the same host. Further members
// have no name.
const processesPerHost = 4096

// maxInstance is the greatest length of a name in Kafka.
const maxInstance = 249

// legalInstance reports whether Kafka accepts a name.
func legalInstance(name string) bool {
	return name != "" && len(name) <= maxInstance && cleanInstance(name) == name
}

// cleanInstance replaces characters that Kafka does not accept in a name.
func cleanInstance(name string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("._-", r) {
			return r
		}
		return '-'
	}, name)
}

// instance returns the name under which this process joins a group, empty for a dynamic member, and
// a function to call after leaving. The automatic name is the host's name with the lowest number
// that no other process on the host uses, so the successor of a dead process gets its name.
func (c *Client) instance(group string) (name string, release func()) {
	none := func() {}
	switch c.config.GroupInstance {
	case instanceNone:
		return "", none
	case instanceAuto:
	default:
		return c.config.GroupInstance, none
	}
	host, err := os.Hostname()
	host = cleanInstance(host)
	shared := strings.HasPrefix(host, "localhost")
	if err != nil || host == "" || len(host) > maxInstance/2 || shared {
		return "", none
	}
	key := fmt.Sprintf("%x", sha256.Sum256(fmt.Append(nil, c.config.Brokers, group)))[:32]
	for n := range processesPerHost {
		release, err := claimName(fmt.Sprintf("eerf/%s/%d", key, n))
		switch {
		case err == nil:
			return fmt.Sprintf("%s.%d", host, n), release
		case !errors.Is(err, errClaimed):
			c.log.Debug("no number on this host; joining the group without a name", zap.String("group", group), zap.Error(err))
			return "", none
		}
	}
	return "", none
}

// errClaimed means that a process on this machine, perhaps this one, holds the name.
var errClaimed = errors.New("claimed by another process")
