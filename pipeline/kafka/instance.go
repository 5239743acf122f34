package kafka

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"strings"

	"go.uber.org/zap"
)

// What kafka.group_instance may be besides a name.
const (
	instanceAuto = "auto"
	instanceNone = "none"
)

// processesPerHost is how many members of one group may have names of one host. Those after them have none.
const processesPerHost = 4096

// maxInstance is how long Kafka lets a name be.
const maxInstance = 249

// legalInstance reports whether Kafka accepts a name.
func legalInstance(name string) bool {
	return name != "" && len(name) <= maxInstance && cleanInstance(name) == name
}

// cleanInstance replaces what Kafka does not accept in a name.
func cleanInstance(name string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("._-", r) {
			return r
		}
		return '-'
	}, name)
}

// instance returns the name under which this process joins a group, empty for none, and what to call once it has left. A name
// found by itself is that of the host with the lowest number that no other process on it uses: a process that takes the place of a
// dead one gets the name of that.
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
	if host = cleanInstance(host); err != nil || host == "" || len(host) > maxInstance/2 || strings.HasPrefix(host, "localhost") {
		return "", none // localhost is the name of many
	}
	key := fmt.Sprintf("%x", sha256.Sum256(fmt.Append(nil, c.config.Brokers, group)))[:32]
	for n := range processesPerHost {
		release, err := claimName(fmt.Sprintf("eerf/%s/%d", key, n))
		switch {
		case err == nil:
			return fmt.Sprintf("%s.%d", host, n), release
		case !errors.Is(err, errClaimed):
			c.log.Debug("no number on this host: without a name in the group", zap.String("group", group), zap.Error(err))
			return "", none
		}
	}
	return "", none
}

// errClaimed says that a process on this machine, or this one, holds what it was asked to claim.
var errClaimed = errors.New("claimed by another process")
